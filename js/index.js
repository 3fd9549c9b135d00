// The public surface. The entries add where the wasm comes from; index.d.ts has the types.
export { HudiTableBuilder } from './builder.js';
export { HudiError } from './errors.js';
export { HudiFileGroupReader } from './file_group_reader.js';
export { col, parseFilters } from './filters.js';
export { HudiQueryType, HudiReadConfig, HudiReadOptions } from './options.js';
export { toParquet } from './parquet.js';
export { createObjectStore } from './stores.js';
export { HudiTable } from './table.js';
export { HudiTableConfig } from './table_config.js';
export { version } from './version.js';
export { init, initSync } from './wasm.js';
