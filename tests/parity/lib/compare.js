// What Spark answered against what we read.
import { textOf } from '../../wasm/support/canonical.js';
import { codeOf } from '../../wasm/support/fixtures.js';

/**
 * @typedef {import('./spark.js').Entry} Entry
 * @typedef {import('./spark.js').Row} Row
 * @typedef {{ rows: Row[] } | { code: string, message: string }} Answer `code` is that of the HudiError that refused it
 */

/**
 * Says in words how our answer differs from Spark's; undefined where it does not. What Spark refuses we must refuse with the code for that.
 *
 * @param {Entry} entry
 * @param {Answer} ours
 */
export function difference(entry, ours) {
  if (entry.error !== undefined) return refusalDifference(entry.error, ours);
  if ('code' in ours) return `Spark reads ${entry.count ?? entry.rows?.length} rows, we refuse it (${ours.code}: ${ours.message})`;
  return entry.rows === undefined ? largeDifference(entry, ours.rows) : rowDifference(entry.rows, ours.rows);
}

/** @param {string} error @param {Answer} ours */
function refusalDifference(error, ours) {
  const expected = codeOf(error);
  if ('rows' in ours) return `Spark refuses it (${error}), we read ${ours.rows.length} rows`;
  return ours.code === expected ? undefined : `Spark refuses it (${error}), we with ${ours.code} (${ours.message}), not ${expected}`;
}

/**
 * The first row that one side lacks; rows are compared as a multiset.
 *
 * @param {Row[]} spark
 * @param {Row[]} ours
 */
export function rowDifference(spark, ours) {
  const [theirs, mine] = [texts(spark), texts(ours)];
  const [missing, extra] = [without(theirs, mine), without(mine, theirs)];
  if (missing.length + extra.length === 0) return undefined;
  const counts = `Spark reads ${spark.length} rows, we read ${ours.length}; ${missing.length} rows only Spark has, ${extra.length} only we have`;
  return `${counts}\n  Spark: ${missing[0] ?? 'none'}\n  ours:  ${extra[0] ?? 'none'}`;
}

const texts = (/** @type {Row[]} */ rows) => rows.map(textOf).sort();

/** What is left of a list when each of `others` takes one equal away. @param {string[]} list @param {string[]} others */
function without(list, others) {
  const counts = new Map();
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1);
  return list.filter((one) => {
    const left = counts.get(one) ?? 0;
    counts.set(one, left - 1);
    return left <= 0;
  });
}

/**
 * For results of which only sums and a sample are kept.
 *
 * @param {Entry} entry
 * @param {Row[]} ours
 */
function largeDifference({ count, sums = {}, sample = [] }, ours) {
  if (count !== ours.length) return `Spark reads ${count} rows, we read ${ours.length}`;
  for (const [column, sum] of Object.entries(sums)) {
    const found = total(ours.map((row) => row[column]));
    if (found !== sum) return `column ${column}: Spark's sum is ${sum}, ours ${found}`;
  }
  const missing = without(texts(sample), texts(ours));
  return missing.length === 0 ? undefined : `a row of Spark's sample is not among ours\n  Spark: ${missing[0]}`;
}

/** Whole numbers and decimals are added exactly, of other text the lengths. @param {unknown[]} values */
function total(values) {
  const present = values.filter((value) => value !== null && value !== undefined).map(String);
  if (!present.every((value) => /^-?\d+(\.\d+)?$/.test(value))) return String(present.reduce((sum, value) => sum + [...value].length, 0));
  const scale = (present[0]?.split('.')[1] ?? '').length;
  const sum = present.reduce((all, value) => all + BigInt(value.replace('.', '')), 0n);
  if (scale === 0) return String(sum);
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
