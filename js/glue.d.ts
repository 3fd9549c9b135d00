// The shape of dist/core.js, which the build makes of wasm-bindgen's glue; only wasm.js and guard.js know it.

/** Ends the call it was given to. */
export interface Cancel { /** Whether the call ends: not once a write is being committed. */ cancel(): boolean; free(): void }

/** Record batches of one read. */
export interface RawStream {
  schema(): Uint8Array<ArrayBuffer>;
  next(): Promise<[rows: number, ipc: Uint8Array<ArrayBuffer>] | undefined>;
  metrics(): string;
  cancel(): void;
  free(): void;
}

/** A table; every text is JSON. `event` hears one JSON text an event. */
export interface RawTable {
  facts(): string;
  timeline(): string;
  refresh(cancel: Cancel, event: EventSink): Promise<RawTable>;
  /** What was written, and the table as of it. */
  append(source: RawSource, options: string, cancel: Cancel, event: EventSink): Promise<[result: string, table: RawTable]>;
  /** ServiceResult. */
  rollback(instant: string, options: string, cancel: Cancel, event: EventSink): Promise<string>;
  resolve(instant: string, cancel: Cancel, event: EventSink): Promise<'COMMITTED' | 'NOT_COMMITTED' | 'UNKNOWN'>;
  schema(kind: 'table' | 'meta' | 'partition', cancel: Cancel, event: EventSink): Promise<[ipc: Uint8Array<ArrayBuffer>, fields: string]>;
  avroSchema(withMetaFields: boolean, cancel: Cancel, event: EventSink): Promise<string>;
  timelineEntries(cancel: Cancel, event: EventSink): Promise<string>;
  instantMetadata(time: string, action: string, cancel: Cancel, event: EventSink): Promise<string>;
  fileSlices(options: string, cancel: Cancel, event: EventSink): Promise<string>;
  explain(options: string, cancel: Cancel, event: EventSink): Promise<string>;
  columnStats(columns: string, options: string, cancel: Cancel, event: EventSink): Promise<string>;
  tableStats(options: string, cancel: Cancel, event: EventSink): Promise<string>;
  lookup(keys: string, options: string, cancel: Cancel, event: EventSink): Promise<RawStream>;
  read(options: string, cancel: Cancel, event: EventSink): Promise<RawStream>;
  /** Its metrics say in `parts` how many batches each of the four parts has. */
  diff(options: string, cancel: Cancel, event: EventSink): Promise<RawStream>;
  readPaths(basePath: string | undefined, logPaths: string, options: string, cancel: Cancel, event: EventSink): Promise<RawStream>;
  free(): void;
}

/** A Parquet file in the making: each call gives pieces of it, in order. */
export interface RawParquetFile { push(ipc: Uint8Array): Uint8Array<ArrayBuffer>[]; finish(): Uint8Array<ArrayBuffer>[]; free(): void }

/** Rows that are pulled: bytes of Arrow IPC or rows as JSON text, never both. */
export interface RawSource { next(): Promise<Uint8Array | string | undefined> }

/** Keeps pieces of files beyond the life of an instance. It never fails: what went wrong it says by the next answer. */
export interface EngineCache {
  get(key: string, start: number, end: number): Promise<{ data?: Uint8Array; etag?: string; warning?: string }>;
  put(key: string, start: number, data: Uint8Array, etag: string | undefined): void;
  forget(key: string): void;
}

export type EventSink = ((json: string) => void) | undefined;

/** What one wasm instance offers. */
export interface Glue {
  Cancel: new () => Cancel;
  ParquetFile: new (codec: string) => RawParquetFile;
  Table: { open(uri: string, storage: unknown, cache: EngineCache | undefined, options: string, cancel: Cancel, event: EventSink): Promise<RawTable>;
    create(uri: string, storage: unknown, cache: EngineCache | undefined, schema: string | Uint8Array, options: string, cancel: Cancel, event: EventSink): Promise<RawTable> };
  _boot(panicked: (text: string) => void): void;
  _locks(acquire: (key: string, options: { signal: AbortSignal }) => Promise<() => void>): void;
  _outOfMemory(): boolean;
  _version(): string;
  _probe(name: string, cancel: Cancel): Promise<undefined>;
  /** Added by the build. */
  _imports(): WebAssembly.Imports;
  _start(exports: WebAssembly.Exports): void;
  _release(): void;
}
