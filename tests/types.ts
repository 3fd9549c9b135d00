// Holds the classes of js/ to their public types; tsc reads this file, nothing runs it. It takes each from its own module,
// since js/index.js resolves to index.d.ts itself.
import type * as said from '../js/index.d.ts';
import { HudiTableBuilder } from '../js/builder.js';
import { HudiError } from '../js/errors.js';
import { HudiFileGroupReader } from '../js/file_group_reader.js';
import { col, parseFilters } from '../js/filters.js';
import { HudiQueryType, HudiReadConfig, HudiReadOptions } from '../js/options.js';
import { toParquet } from '../js/parquet.js';
import { createObjectStore } from '../js/stores.js';
import { HudiTable } from '../js/table.js';
import { HudiTableConfig } from '../js/table_config.js';
import { version } from '../js/version.js';
import { init, initSync } from '../js/wasm.js';

/** What a module makes must be what the types say, in what goes in and in what comes out. */
const surface: Omit<typeof said, 'HudiTable' | 'HudiTableBuilder' | 'HudiFileGroupReader' | 'HudiError' | 'HudiReadOptions'> = {
  HudiQueryType, HudiReadConfig, HudiTableConfig, col, createObjectStore, init, initSync, parseFilters, toParquet, version,
};

// Constructors are private in the types or take more in js/, so the classes are held by what they are called with.
const statics: {
  open: typeof said.HudiTable.open;
  openReader: typeof said.HudiFileGroupReader.open;
  fromBaseUri: typeof said.HudiTableBuilder.fromBaseUri;
  is: typeof said.HudiError.is;
} = {
  open: HudiTable.open,
  openReader: HudiFileGroupReader.open,
  fromBaseUri: HudiTableBuilder.fromBaseUri,
  is: (error, code): error is said.HudiError => HudiError.is(error, code),
};

/** Every key of the first is a key of the second and back: nothing public is only in one of them. */
type Same<A, B> = [Exclude<keyof A, keyof B>, Exclude<keyof B, keyof A>] extends [never, never] ? true : [Exclude<keyof A, keyof B>, Exclude<keyof B, keyof A>];

const members: [
  Same<said.HudiTable, HudiTable>,
  Same<said.HudiTableBuilder, HudiTableBuilder>,
  Same<said.HudiFileGroupReader, HudiFileGroupReader>,
  Same<said.HudiReadOptions, HudiReadOptions>,
] = [true, true, true, true];

// As a user writes it: what must compile, and what must not.
async function use(table: said.HudiTable, signal: AbortSignal) {
  const options: said.ReadOptions = new HudiReadOptions({ filters: [['a', 'in', [1, 2n, 'x', true]], col('b').isNull()] }).withLimit(3);
  const { ipc }: { ipc: Uint8Array<ArrayBuffer> } = await table.read({ projection: ['a'], asOf: new Date(), signal });
  for await (const { numRows } of table.readStream(options)) numRows.toFixed();
  // @ts-expect-error: a number loses digits
  await table.read({ asOf: 20240101000000000 });
  // @ts-expect-error: an operator of another language
  await table.read({ filters: [['a', '==', 1]] });
  // @ts-expect-error: one value too many
  await table.read({ filters: [['a', 'IS NULL', 1]] });
  return ipc;
}

export { members, statics, surface, use };
