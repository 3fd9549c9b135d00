// The first answer of a process, of each contender in turn: see cold.mjs.
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { bundle } from '../scripts/lib/bundle.mjs';
import { barsOf, cases, coldCase, compare, ours } from './judge.mjs';
import { here, median, table } from './tables.mjs';

/** Milliseconds until it came, what they went into, and the rows. @typedef {{ ms: number, rows: number, spent: Record<string, number> }} Answer */

/** A process that does nothing but to say so. */
const alone = 'node';

/**
 * @param {string[]} names
 * @param {number} runs
 */
export async function coldStarts(names, runs) {
  // js/ may have changed since dist/ was built.
  await bundle();
  const folder = await table('small');
  const file = path.join(folder, (await readdir(folder)).find((name) => name.endsWith('.parquet')) ?? '');
  const columns = cases[2].columns ?? [];
  /** @type {Map<string, Answer[]>} */
  const outcomes = new Map([alone, ...names].map((name) => [name, []]));
  for (let turn = 0; turn <= runs; turn += 1) {
    for (const [name, list] of outcomes) list.push(await first([name, folder, file, ...columns]));
    process.stderr.write('.');
  }
  const rows = new Set(names.flatMap((name) => outcomes.get(name)?.map(({ rows }) => rows) ?? []));
  if (rows.size !== 1) throw new Error(`they read different rows: ${[...rows].join('; ')}`);
  const medians = new Map([...outcomes].map(([name, list]) => [name, median(list.slice(1).map(({ ms }) => ms))]));
  const base = medians.get(alone) ?? NaN;
  const less = new Map(names.map((name) => [name, (medians.get(name) ?? NaN) - base]));
  const peers = new Map([...less].filter(([name]) => name !== ours));
  const short = [];
  const lines = [];
  for (const [who, list] of outcomes) {
    const ms = less.get(who) ?? base;
    const { columns, missed } = compare(ms, who === ours ? peers : new Map(), barsOf(coldCase, 0));
    const best = Math.min(...list.map((one) => one.ms)) - (who === alone ? 0 : Math.min(...(outcomes.get(alone) ?? []).map((one) => one.ms)));
    lines.push({ runtime: 'node', case: coldCase, delay: 0, who: who === alone ? 'node alone' : who, first: Math.round(list[0].ms - (who === alone ? 0 : base)), median: +ms.toFixed(1), best: +best.toFixed(1), ...columns });
    short.push(...missed.map((one) => `${coldCase}: ${one}; ${parted(list)}`));
  }
  return { lines, short };
}

/** Medians of what the time went into; compiling what is called for the first time is part of the last two. */
function parted(/** @type {Answer[]} */ list) {
  const kinds = Object.keys(list[0].spent);
  return kinds.map((kind) => `${median(list.slice(1).map(({ spent }) => spent[kind])).toFixed(0)} ms of ${kind}`).join(', ');
}

/** @param {string[]} work @returns {Promise<Answer>} */
function first(work) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(process.execPath, [path.join(here, 'cold.mjs'), ...work], { stdio: ['ignore', 'pipe', 'inherit'] });
    let [ms, said] = [NaN, ''];
    child.stdout.on('data', (/** @type {Buffer} */ data) => {
      if (said === '') ms = performance.now() - began;
      said += data;
    });
    // What a process does after its answer is not to take time of the next.
    child.on('close', (code) => (code === 0 ? resolve({ ms, ...JSON.parse(said) }) : reject(new Error(`${work[0]} ended with code ${code}`))));
  });
}
