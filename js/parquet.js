// Results of reads as Parquet.
import { invalid } from './errors.js';
import { checkKeys } from './options.js';
import { engine } from './wasm.js';

const codecs = ['uncompressed', 'snappy', 'gzip', 'lz4_raw'];
/** After so many milliseconds of encoding a page gets its turn. */
const turn = 50;

/** @type {typeof import('./index.d.ts').toParquet} */
export async function toParquet(result, options = {}) {
  checkKeys(options, ['compression'], 'Parquet option');
  const { compression = 'gzip' } = options;
  if (!codecs.includes(compression)) throw invalid(`unknown compression ${JSON.stringify(compression)}`, { hint: `Known are: ${codecs.join(', ')}.` });
  if (typeof result?.[Symbol.iterator] !== 'function' || !('ipc' in result)) throw invalid('not the result of a read');
  const streams = result.numBatches > 0 ? [...result].map(({ ipc }) => ipc) : [result.ipc];
  const host = await engine();
  const file = host.call((glue) => new glue.ParquetFile(compression));
  try {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    const pieces = [];
    let began = performance.now();
    for (const ipc of streams) {
      pieces.push(...host.call(() => file.push(ipc)));
      if (performance.now() - began < turn) continue;
      await new Promise((resolve) => setTimeout(resolve));
      began = performance.now();
    }
    return joined([...pieces, ...host.call(() => file.finish())]);
  } finally {
    if (!host.dead) host.call(() => file.free());
  }
}

function joined(/** @type {Uint8Array<ArrayBuffer>[]} */ pieces) {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
