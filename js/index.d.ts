// hudi-wasm: public types. ESM only, no top-level await. Names follow hudi-rs' Python API in camelCase.
// Entries beside the root: `/worker`, these classes over an engine in a Worker; `/slim`, the root without a loader (call init() first); `/core.wasm`.
/// <reference lib="esnext.disposable" />

// ───────── loading ─────────
/** Optional. Every async call does it. Call it to choose where the wasm comes from; without effect once it is loaded. */
export function init(options?: { module?: WasmSource | (() => WasmSource | Promise<WasmSource>) }): Promise<void>;
export function initSync(options: { module: BufferSource | WebAssembly.Module }): void;
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module | Promise<Response>;
export const version: string;

// ───────── Arrow out ─────────
/** One batch as an Arrow IPC stream, outside wasm memory: nothing to free; `ipc.buffer` is transferable. */
export interface HudiBatch { readonly numRows: number; readonly ipc: Uint8Array<ArrayBuffer> }
export interface HudiResult extends Iterable<HudiBatch> {
  readonly numRows: number;
  readonly numBatches: number;
  /** One Arrow IPC stream with the schema and all batches: `tableFromIPC(result.ipc)`. Joined when first asked for. */
  readonly ipc: Uint8Array<ArrayBuffer>;
  readonly metrics: ReadMetrics;
}
/** Single-use. `break`, `return()` and `await using` stop it and abort its requests. */
export interface HudiRecordBatchStream extends AsyncIterableIterator<HudiBatch>, AsyncDisposable {
  readonly schemaIpc: Promise<Uint8Array<ArrayBuffer>>;
  /** Bytes of one Arrow IPC stream: `new Response(s.toReadableStream())`, `RecordBatchReader.from(...)`. */
  toReadableStream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** What it cost so far. */
  readonly metrics: ReadMetrics;
}

// ───────── Arrow in ─────────
export type ArrowInput =
  | Uint8Array | ArrayBuffer                       // an Arrow IPC stream, or a file (held as a whole), told apart by its first bytes
  | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /**
   * Objects by column, brought to the table's types. A value that would lose is SCHEMA with its row number: a number beyond 2^53 or a fraction for a whole
   * column (give a bigint), a decimal that rounds, digits of a second that the column does not hold. Times are RFC 3339 text with an offset or a Date, in a
   * column without zone text without offset; dates yyyy-MM-dd; binary is a Uint8Array; a map is a Map or an object.
   */
  | { readonly rows: readonly Readonly<Record<string, unknown>>[] };

// ───────── reading ─────────
/**
 * 'incremental' gives the rows that changed within (start, end] as they were at its end. 'cdc' gives every change there: columns op (i, u, d),
 * ts_ms (the instant, as text), before and after. A table that does not capture changes is UNSUPPORTED for 'cdc'.
 */
export const HudiQueryType: { readonly Snapshot: 'snapshot'; readonly Incremental: 'incremental'; readonly Cdc: 'cdc' };
export type HudiQueryType = 'snapshot' | 'incremental' | 'cdc';
/** Text is cast to the column's type before any data is asked for; what does not parse is SCHEMA. Date means that UTC moment. */
export type FilterValue = string | number | bigint | boolean | Date;
/** Any letter case at run time; the last two go beyond hudi-rs. */
export type FilterOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'IN' | 'NOT IN' | 'IS NULL' | 'IS NOT NULL';
/** Text after IN is split on commas and trimmed; `\,` is a comma and `\\` a backslash inside a value. An array is taken as it stands. A field may be nested: 'a.b'. */
export type FilterTuple =
  | readonly [field: string, op: '=' | '!=' | '<' | '<=' | '>' | '>=', value: FilterValue]
  | readonly [field: string, op: 'IN' | 'NOT IN' | 'in' | 'not in', value: string | readonly FilterValue[]]
  | readonly [field: string, op: 'IS NULL' | 'IS NOT NULL' | 'is null' | 'is not null'];
/**
 * Meaning of a comparison, as Spark's: null matches nothing but IS NULL, also under != and NOT IN (and a null in a NOT IN list matches no row). NaN equals NaN
 * and is greater than every number; -0.0 equals 0.0. Strings compare by bytes of UTF-8, binary as unsigned bytes (text: hex). Decimals compare by value at any
 * scale. Dates: `yyyy-MM-dd`. Timestamps: RFC 3339; with zone the offset is required, without zone it is forbidden. Text that does not parse is SCHEMA.
 * Pruning may only keep more than the row mask.
 *
 * A list of filters is their AND. Checked where it is given: unknown operator, empty IN list and wrong count are INVALID_ARGUMENT at once.
 */
export type Filters = readonly (FilterTuple | Filter)[];
export interface Filter { readonly field: string; readonly operator: FilterOperator; readonly values: readonly string[]; negate(): Filter }
export function parseFilters(filters: Filters): Filter[];
export function col(name: string): Column;
export interface Column {
  eq(value: FilterValue): Filter; ne(value: FilterValue): Filter;
  lt(value: FilterValue): Filter; lte(value: FilterValue): Filter;
  gt(value: FilterValue): Filter; gte(value: FilterValue): Filter;
  inList(values: readonly FilterValue[]): Filter; notInList(values: readonly FilterValue[]): Filter;
  isNull(): Filter; isNotNull(): Filter;
}
/**
 * Never a number: 17 digits do not fit a double. Text, first match wins: Hudi's yyyyMMddHHmmss[SSS]; epoch seconds, millis, micros or
 * nanos; RFC 3339 with an offset. Without an offset, and date only, it is INVALID_ARGUMENT. `start` also takes 'earliest'. All is
 * brought to the table's timeline zone. A Date is that UTC moment.
 */
export type TimestampInput = string | Date;
/** Keys for hudiOptions and the with...Option calls; a plain string does as well. */
export const HudiReadConfig: {
  readonly QueryType: 'hoodie.read.query.type'; readonly AsOfTimestamp: 'hoodie.read.as.of.timestamp';
  readonly StartTimestamp: 'hoodie.read.start.timestamp'; readonly EndTimestamp: 'hoodie.read.end.timestamp';
  readonly StreamBatchSize: 'hoodie.read.stream.batch_size'; readonly UseReadOptimizedMode: 'hoodie.read.use.read_optimized.mode';
};
/** Keys of hoodie.properties, as hudiOptions() gives them. */
export const HudiTableConfig: {
  readonly BaseFileFormat: 'hoodie.table.base.file.format'; readonly Checksum: 'hoodie.table.checksum'; readonly CreateSchema: 'hoodie.table.create.schema';
  readonly DatabaseName: 'hoodie.database.name'; readonly DropsPartitionFields: 'hoodie.datasource.write.drop.partition.columns';
  readonly IsHiveStylePartitioning: 'hoodie.datasource.write.hive_style_partitioning';
  readonly IsPartitionPathUrlencoded: 'hoodie.datasource.write.partitionpath.urlencode'; readonly KeyGeneratorClass: 'hoodie.table.keygenerator.class';
  readonly KeyGeneratorType: 'hoodie.table.keygenerator.type'; readonly MetadataPartitions: 'hoodie.table.metadata.partitions';
  readonly OrderingFields: 'hoodie.table.ordering.fields'; readonly PartitionFields: 'hoodie.table.partition.fields';
  readonly PopulatesMetaFields: 'hoodie.populate.meta.fields'; readonly PrecombineField: 'hoodie.table.precombine.field';
  readonly RecordKeyFields: 'hoodie.table.recordkey.fields'; readonly RecordMergeMode: 'hoodie.record.merge.mode'; readonly TableName: 'hoodie.table.name';
  readonly TableType: 'hoodie.table.type'; readonly TableVersion: 'hoodie.table.version'; readonly TimelineHistoryPath: 'hoodie.timeline.history.path';
  readonly TimelineLayoutVersion: 'hoodie.timeline.layout.version'; readonly TimelinePath: 'hoodie.timeline.path';
  readonly TimelineTimezone: 'hoodie.table.timeline.timezone';
};

export interface CallOptions { signal?: AbortSignal; onProgress?: (event: HudiProgress) => void }
export interface ReadOptionsInit extends CallOptions {
  filters?: Filters;
  /** Top-level columns in the order wanted; an empty list keeps none, only the row count. */
  projection?: readonly string[];
  /** Snapshot (the default) reads asOf and drops start and end; incremental and cdc read (start, end] by completion time (version 6: by instant time) and drop asOf. */
  queryType?: HudiQueryType;
  asOf?: TimestampInput;
  start?: TimestampInput;
  end?: TimestampInput;
  /** Rows a batch of a stream (default 1024, as in hudi-rs); 0 is INVALID_ARGUMENT. Eager reads choose their own batch size. */
  batchSize?: number;
  readOptimized?: boolean;
  limit?: number;
  /** Asks the metadata table and the store for the files and fails where they differ. `hoodie.metadata.enable=false` in hudiOptions leaves the metadata table aside. */
  checkListing?: boolean;
  /** Damaged spans of log files are passed over, counted and named in metrics; true makes them CORRUPT. */
  strictLogs?: boolean;
  /** Images of a change query: JSON text as Spark gives it (the default), or structs of the table's columns. */
  cdcImages?: 'json' | 'struct';
  /** The hoodie.read.* keys of this one read; the named options above win over them. */
  hudiOptions?: Readonly<Record<string, string>>;
}
/** Same builder as Python's; immutable; accepted wherever ReadOptionsInit is; checks as it is built. */
export class HudiReadOptions {
  constructor(init?: ReadOptionsInit);
  readonly filters: readonly Filter[];
  readonly projection: readonly string[] | undefined;
  readonly hudiOptions: Readonly<Record<string, string>>;
  withFilters(filters: Filters): HudiReadOptions;
  withProjection(columns: readonly string[]): HudiReadOptions;
  withQueryType(type: HudiQueryType): HudiReadOptions;
  withAsOfTimestamp(time: TimestampInput): HudiReadOptions;
  withStartTimestamp(time: TimestampInput): HudiReadOptions;
  withEndTimestamp(time: TimestampInput): HudiReadOptions;
  withBatchSize(rows: number): HudiReadOptions;
  withHudiOption(key: string, value: string): HudiReadOptions;
  withReadOptimized(on?: boolean): HudiReadOptions;
  withLimit(rows: number): HudiReadOptions;
  withStrictLogs(on?: boolean): HudiReadOptions;
  withSignal(signal: AbortSignal): HudiReadOptions;
  queryType(): HudiQueryType;
  asOfTimestamp(): string | undefined;
  startTimestamp(): string | undefined;
  endTimestamp(): string | undefined;
  batchSize(): number;
}
export type ReadOptions = ReadOptionsInit | HudiReadOptions;

export interface OpenOptions extends CallOptions {
  /** Left out: by the URI's scheme, where that says enough (http, https, file and plain paths). */
  storage?: StorageInit | ObjectStore;
  cache?: CacheInit;
  /** Table keys, for reads: a write that they describe another table to than hoodie.properties does is INVALID_ARGUMENT, and so is a new table. hoodie.read.* here is dropped with a warning event. */
  hudiOptions?: Readonly<Record<string, string>>;
  /** Zone of a table whose timeline is LOCAL ('host' or an IANA name): needed to turn a Date, epoch or RFC 3339 time into an instant there. */
  timezone?: string;
  /**
   * The table's place as Spark names it, such as `s3a://bucket/table`, or a local path: plans of table services hold absolute paths. Left out: `s3a://…` for
   * s3, the path for local files, the URI for schemes of other stores such as `gs://`; none where Spark does not go.
   */
  canonicalUri?: string;
  /** Requests in flight, default 6: browsers' and workerd's own limit. */
  concurrency?: number;
  /**
   * Bytes that one call may hold in wasm memory: a row group beyond it is read in ranges of its pages where the file has a page index, else
   * LIMIT_EXCEEDED; log rows of a file slice beyond it are LIMIT_EXCEEDED. Left out: whatever the host gives.
   */
  memoryLimit?: number;
  onRequest?: (request: RequestInfoEvent) => void;
}
/** Pinned to the set of instants completed at open; what lands later is seen through refresh(). No commit yet: reads are empty, not errors. */
export class HudiTable implements AsyncDisposable {
  private constructor();
  static open(uri: string | URL, options?: OpenOptions): Promise<HudiTable>;
  /** A new table without rows. One that is there is TABLE_EXISTS and stays as it is. */
  static create(uri: string | URL, options: CreateOptions): Promise<HudiTable>;
  readonly tableName: string;
  readonly tableType: 'COPY_ON_WRITE' | 'MERGE_ON_READ';
  readonly isMor: boolean;
  readonly tableVersion: number;
  readonly timezone: string;
  readonly baseUrl: string;
  hudiOptions(): Record<string, string>;
  /** What the store was opened with; secrets are masked. */
  storageOptions(): Record<string, string>;
  getSchema(): Promise<HudiSchema>;
  getSchemaWithMetaFields(): Promise<HudiSchema>;
  getPartitionSchema(): Promise<HudiSchema>;
  getSchemaInAvroStr(): Promise<string>;
  getSchemaInAvroStrWithMetaFields(): Promise<string>;
  getTimeline(): HudiTimeline;
  getFileSlices(options?: ReadOptions): Promise<HudiFileSlice[]>;
  read(options?: ReadOptions): Promise<HudiResult>;
  /** Sync: the first await happens in the iterator. */
  readStream(options?: ReadOptions): HudiRecordBatchStream;
  /** The timestamps of readOptions are resolved as for getFileSlices; filters and projection go to the reader's own calls. */
  createFileGroupReaderWithOptions(readOptions?: ReadOptions): Promise<HudiFileGroupReader>;
  /** What a read would fetch, without fetching data: files pruned by what, ranges, bytes. */
  explain(options?: ReadOptions): Promise<ReadPlan>;
  /**
   * Rows added, removed and changed between two snapshots, by partition and record key; both images of a changed row, in one order. A row is changed
   * when one of the table's own columns is. Filters and projection hold for both snapshots; 'earliest' is the empty table.
   */
  diff(from: TimestampInput, to: TimestampInput, options?: ReadOptions): Promise<{ added: HudiResult; removed: HudiResult; before: HudiResult; after: HudiResult }>;
  /** Rows by record key, in the order of the keys, absent ones left out; the record index and statistics decide which files are opened. */
  lookup(keys: readonly (string | { recordKey: string; partitionPath?: string })[], options?: ReadOptions): Promise<HudiResult>;
  /** An estimate for planning. undefined: no metadata table, no Parquet, or not a snapshot query. */
  computeTableStats(options?: ReadOptions): Promise<{ numRows: number; totalByteSize: number } | undefined>;
  /** Of each column first all files together, then each base and log file: from the metadata table, else from footers; no rows are read. */
  columnStats(columns: readonly string[], options?: ReadOptions): Promise<readonly ColumnStatsRow[]>;
  /** A handle pinned to the newest commit; this one stays where it is. */
  refresh(options?: CallOptions): Promise<HudiTable>;
  /**
   * Adds rows in new files, without looking for their keys in the table (Hudi's bulk insert). This handle stays where it is; the result's sees the rows. A
   * signal that fires before the commit leaves the table as it was: what is there already is invisible, and removed by the next write. One that fires later is not heeded.
   */
  append(data: ArrowInput, options?: WriteOptions): Promise<WriteResult>;
  /**
   * Takes back the newest completed write: its rows and files go, and this handle stays where it is. `result.instant` is the rollback's own. A signal is heeded
   * until the plan is written; what is planned is carried out, by the next write where this one could not.
   */
  rollback(instant: string, options?: ServiceOptions): Promise<ServiceResult>;
  /** What became of an instant after COMMIT_STATE_UNKNOWN: read again, nothing written. */
  resolve(instant: string, options?: CallOptions): Promise<'COMMITTED' | 'NOT_COMMITTED' | 'UNKNOWN'>;
  close(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * A result as one Parquet file; gzip unless given. UNSUPPORTED, naming the column, for nanoseconds, vectors and decimals of more than 38 digits. It runs
 * where it is called: in a page, results of a Worker too are encoded by the page's own engine.
 */
export function toParquet(result: HudiResult, options?: { compression?: 'uncompressed' | 'snappy' | 'gzip' | 'lz4_raw' }): Promise<Uint8Array<ArrayBuffer>>;
/** Python's builder, for those who come from there. */
export class HudiTableBuilder {
  private constructor();
  static fromBaseUri(uri: string | URL): HudiTableBuilder;
  withHudiOption(key: string, value: string): this;
  withHudiOptions(options: Record<string, string>): this;
  /** The aws_* keys of object_store that an s3 table needs. */
  withStorageOption(key: string, value: string): this;
  withStorageOptions(options: Record<string, string>): this;
  /** hoodie.* goes to the table, the rest to storage. */
  withOption(key: string, value: string): this;
  withOptions(options: Record<string, string>): this;
  withStorage(storage: StorageInit | ObjectStore): this;
  build(options?: CallOptions): Promise<HudiTable>;
}
export class HudiFileGroupReader implements Disposable {
  private constructor();
  static open(uri: string | URL, options?: OpenOptions): Promise<HudiFileGroupReader>;
  readonly isMetadataTable: boolean;
  readFileSlice(slice: HudiFileSlice, options?: ReadOptions): Promise<HudiResult>;
  readFileSliceStream(slice: HudiFileSlice, options?: ReadOptions): HudiRecordBatchStream;
  /** No log paths: the base file alone; no base path: the logs alone. A filter on a column the batch lacks is SCHEMA. */
  readFileSliceFromPaths(basePath: string | undefined, logPaths: readonly string[], options?: ReadOptions): Promise<HudiResult>;
  readFileSliceFromPathsStream(basePath: string | undefined, logPaths: readonly string[], options?: ReadOptions): HudiRecordBatchStream;
  close(): void;
  [Symbol.dispose](): void;
}
/** Plain data, so slices can be sent to workers; Python's methods are properties here. Without a base file its sizes and numRecords are 0. */
export interface HudiFileSlice {
  readonly fileId: string; readonly partitionPath: string; readonly creationInstantTime: string;
  readonly baseFileName?: string; readonly baseFileSize: number; readonly numRecords: number;
  readonly hasLogFiles: boolean; readonly logFileNames: readonly string[]; readonly logFileSizes: readonly number[];
  readonly baseFileRelativePath?: string; readonly logFilesRelativePaths: readonly string[]; readonly totalSizeBytes: number;
}
export type InstantState = 'REQUESTED' | 'INFLIGHT' | 'COMPLETED';
export interface HudiInstant {
  readonly timestamp: string; readonly completionTimestamp?: string; readonly action: string; readonly state: InstantState;
  /** Absent on a LOCAL timeline without `timezone`. */ readonly epochMillis?: number;
}
/** A row of Spark's show_timeline. */
export interface TimelineEntry extends HudiInstant { readonly archived: boolean; readonly rolledBackBy?: readonly string[]; readonly rollsBack?: readonly string[] }
/** Newest first unless desc is false. start and end are requested times as Hudi writes them, both included. */
export interface TimelineQuery extends CallOptions { desc?: boolean; start?: string; end?: string; limit?: number; actions?: readonly string[] }
export interface HudiTimeline {
  getCompletedCommits(desc?: boolean): HudiInstant[];
  getCompletedDeltacommits(desc?: boolean): HudiInstant[];
  getCompletedReplacecommits(desc?: boolean): HudiInstant[];
  getCompletedClusteringCommits(desc?: boolean): HudiInstant[];
  getLatestCommitTimestamp(): string | undefined;
  /** All actions and states of the active timeline; costs a request for each rollback. */
  getInstants(options?: TimelineQuery): Promise<TimelineEntry[]>;
  /** What each completed write of the active timeline did; costs a request for each that is asked for. */
  showCommits(options?: TimelineQuery): Promise<CommitRow[]>;
  /** Completed or pending, of every action: Avro, JSON or a plan. */
  getInstantMetadataInJson(instant: HudiInstant, options?: CallOptions): Promise<string>;
  getLatestAvroSchema(): Promise<string>;
  getLatestSchema(): Promise<HudiSchema>;
}
/** A row of Spark's show_commits, by its columns: bytes and counts. */
export interface CommitRow {
  readonly commitTime: string; readonly stateTransitionTime?: string; readonly action: string; readonly totalBytesWritten: number;
  readonly totalFilesAdded: number; readonly totalFilesUpdated: number; readonly totalPartitionsWritten: number;
  readonly totalRecordsWritten: number; readonly totalUpdateRecordsWritten: number; readonly totalErrors: number;
}
export interface HudiSchema { readonly ipc: Uint8Array<ArrayBuffer>; readonly fields: readonly { name: string; type: string; nullable: boolean; metadata: Record<string, string> }[] }

// ───────── writing ─────────
export interface CreateOptions extends OpenOptions {
  tableName: string;
  /** An Arrow IPC stream or file, with or without batches, or Avro JSON text. */
  schema: Uint8Array | string;
  tableType?: 'COPY_ON_WRITE' | 'MERGE_ON_READ'; tableVersion?: 8 | 9;
  /** None: rows are only ever appended. */ recordKeyFields?: readonly string[];
  partitionFields?: readonly string[]; orderingFields?: readonly string[];
  recordMergeMode?: 'COMMIT_TIME_ORDERING' | 'EVENT_TIME_ORDERING' | 'CUSTOM'; keyGenerator?: string; databaseName?: string;
  hiveStylePartitioning?: boolean; urlEncodePartitioning?: boolean; populateMetaFields?: boolean;
  metadata?: false | readonly MetadataPartition[];
  cdc?: false | 'OP_KEY_ONLY' | 'DATA_BEFORE' | 'DATA_BEFORE_AFTER';
  /** Default 'error': TABLE_EXISTS. */ ifExists?: 'error' | 'open';
}
export type MetadataPartition = 'files' | 'column_stats' | 'partition_stats' | 'record_index';
export interface WriteOptions extends CallOptions {
  /** One writer at a time: a lock inside of this process and, where the host has Web Locks, over all tabs of the origin. */
  concurrency?: { mode: 'single-writer' };
  extraMetadata?: Readonly<Record<string, string>>; hudiOptions?: Readonly<Record<string, string>>;
  compression?: 'uncompressed' | 'snappy' | 'gzip' | 'lz4_raw' /* default gzip */; inlineServices?: boolean;
  duplicateKeys?: 'error' | 'keep-latest' /* by ordering fields, else the last row */;
  /** Promotions that lose nothing, such as int to long; new columns that may be null become the table's last; columns that may be null may be missing. */ widen?: boolean;
  /** Commits although there is no row. */ emptyCommit?: boolean;
  /** Zone of new instants on a LOCAL table; default the host's. */ timezone?: string;
}
/** No instant: there were no rows, so nothing was committed. */
export interface WriteResult {
  readonly instant?: string; readonly completionTime?: string; readonly action?: string;
  readonly inserted: number; readonly updated: number; readonly deleted: number;
  readonly filesWritten: number; readonly bytesWritten: number; readonly bytesCopied: number;
  readonly partitions: readonly string[]; readonly attempts: number;
  /** A handle pinned to this commit. */ readonly table: HudiTable;
}
export type ServiceOptions = WriteOptions;
export interface ServiceResult {
  readonly service: string; readonly instant?: string; readonly state: InstantState | 'NOTHING_TO_DO';
  readonly fileGroups: number; readonly filesWritten: number; readonly filesDeleted: number; readonly bytesWritten: number;
}

// ───────── storage ─────────
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;
export type Awaitable<T> = T | Promise<T>;
export interface S3Credentials { accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date }
export type StorageInit =
  | { type: 'http'; headers?: HeadersInit | (() => Awaitable<HeadersInit>); fetch?: Fetch; listing?: Listing }
  | { type: 's3'; region: string; endpoint?: string | URL; forcePathStyle?: boolean; anonymous?: boolean; fetch?: Fetch;
      credentials?: S3Credentials | (() => Awaitable<S3Credentials>); requestPayer?: boolean;
      conditionalWrites?: boolean /* if-none-match: left out, two puts show once whether the server heeds it; true: it does; false: it does not, and this is the only writer */ }
  | { type: 's3-presigned'; sign: Signer; fetch?: Fetch; conditionalWrites?: boolean }
  | { type: 'r2'; bucket: R2BucketLike; prefix?: string }             // the table's place in the bucket; left out, the path of the URI
  | { type: 'directory'; handle: FileSystemDirectoryHandle }          // OPFS or showDirectoryPicker(): the table's own folder
  | { type: 'file' }                                                  // Node, Deno, Bun: file: URLs and paths
  | { type: 'memory'; files?: Iterable<readonly [path: string, data: Uint8Array]> };
/**
 * How to list over http: what static hosts need. 'webdav' asks by PROPFIND. 'autoindex' reads the pages that nginx, Apache and Python's http.server
 * make of a folder; these hide names that begin with a dot and round sizes, so it serves copy-on-write tables (a size costs a request more for each
 * file that is opened) and a merge-on-read table is LIST_NOT_SUPPORTED, as is a page of any other kind.
 */
export type Listing = 'none' | 'autoindex' | 'webdav' | { manifest: string | URL } | ((prefix: string, options: CallOptions) => AsyncIterable<ObjectMeta>);
export interface SignRequest { readonly method: 'GET' | 'PUT' | 'POST' /* start and end of an upload by parts */ | 'DELETE' | 'LIST'; readonly key: string; readonly query: Readonly<Record<string, string>>; readonly headers: Readonly<Record<string, string>> }
/**
 * Gives the URL of a request. LIST is GET of the bucket with `query`, which has list-type=2; parts of an upload have theirs in `query` too. `headers`, such
 * as if-none-match, have to be signed; a range never is among them,
 * so one URL serves all ranges of its object: parallel calls for one object are signed once, and a URL is used again until shortly before `expiresAt`,
 * or before its own X-Amz-Expires; one that ends at no known time is not kept. A URL used again and refused is signed anew, once.
 */
export type Signer = (request: SignRequest) => Awaitable<string | URL | { url: string | URL; headers?: Record<string, string>; expiresAt?: Date }>;
/** What is used of an R2 bucket's binding; the last three to write. */
export interface R2BucketLike {
  get(key: string, options?: any): Promise<any>; head(key: string): Promise<any>; list(options?: any): Promise<any>;
  put?(key: string, value: any, options?: any): Promise<any>; delete?(keys: string | string[]): Promise<void>; createMultipartUpload?(key: string, options?: any): Promise<any>;
}
export interface ObjectMeta { readonly path: string; readonly size: number; readonly etag?: string; readonly lastModified?: Date }
/**
 * Bring your own. Paths are relative to the table. Errors must be HudiError or carry an HTTP `status`; a put whose condition does not hold is
 * PRECONDITION_FAILED, or 412. With `putIfAbsent` two puts show that ifNoneMatch is heeded before it is relied on; without it, whoever writes must be alone.
 */
export interface ObjectStore {
  readonly capabilities: { readonly write: boolean; readonly list: boolean; readonly putIfAbsent: boolean; readonly putIfMatch: boolean };
  get(path: string, options: { range?: { start: number; end: number } | { suffix: number }; signal?: AbortSignal }): Promise<{ data: Uint8Array | ReadableStream<Uint8Array>; size: number; etag?: string }>;
  list(prefix: string, options: { delimiter?: '/'; startAfter?: string; signal?: AbortSignal }): AsyncIterable<ObjectMeta | { readonly prefix: string }>;
  put?(path: string, data: Uint8Array, options: { ifNoneMatch?: '*'; ifMatch?: string; signal?: AbortSignal }): Promise<{ etag?: string }>;
  /** Parts come in order, all but the last 8 MiB long. Nothing is visible before complete(). Without it a file larger than memory allows is LIMIT_EXCEEDED. */
  upload?(path: string, options?: CallOptions): Promise<{ write(part: Uint8Array): Promise<void>; complete(): Promise<{ etag?: string }>; abort(): Promise<void> }>;
  delete?(paths: readonly string[], options?: CallOptions): Promise<void>;
}
/** A store of ours to fill, inspect or wrap: kinds 'memory', 'file', 'r2' and 'directory'. */
export function createObjectStore(uri: string | URL, init: StorageInit): ObjectStore;
/** Data files never change: they are cached by path and size. Only hoodie.properties and pointers are revalidated. */
export interface CacheInit {
  memory?: number /* bytes, default 64 MiB, 16 MiB in workerd; of a table that is opened by a local path, or in memory, pieces of more than 4 MiB are kept only where it is given */;
  /**
   * Keeps files that never change beyond this visit, for tables on another machine: in the Cache API or the private files of the page's origin, where
   * whoever may run script there can read them; 'none' unless given. All tables and tabs of the origin share it. A full disk ends it with a warning.
   */
  persistent?: 'none' | 'cache-api' | 'opfs' | ByteRangeCache;
  persistentBytes?: number /* what 'cache-api' and 'opfs' hold at most, by last use; default 256 MiB */;
  coalesceGap?: number /* default 128 KiB */; maxRequest?: number /* default 8 MiB */;
}
/** A cache of your own. A key holds the table's place, the path and the size: what is kept under it never changes. */
export interface ByteRangeCache {
  get(key: string, start: number, end: number): Promise<Uint8Array | { data: Uint8Array; etag?: string | undefined } | undefined>;
  put(key: string, start: number, data: Uint8Array, etag?: string): Promise<void>;
  /** What was kept turned out to be broken. */ delete?(key: string): Promise<void>;
}

// ───────── what it tells while it works ─────────
export type HudiProgress =
  | { readonly type: 'phase'; readonly phase: 'timeline' | 'plan' | 'read' | 'write' | 'metadata' | 'commit' }
  | { readonly type: 'bytes'; readonly loaded: number; readonly total?: number }
  | { readonly type: 'files'; readonly done: number; readonly total: number }
  | { readonly type: 'rows'; readonly rows: number }
  | { readonly type: 'warning'; readonly message: string; readonly path?: string };
export interface RequestInfoEvent {
  readonly method: string; readonly path: string; readonly start?: number; readonly end?: number; readonly status: number; readonly bytes: number; readonly ms: number;
  readonly source: 'network' | 'memory' | 'persistent'; readonly attempt: number;
  readonly cause: 'properties' | 'timeline' | 'listing' | 'metadata-table' | 'footer' | 'data' | 'log' | 'index' | 'lock' | 'write';
}
/**
 * warnings: whatever was worked around; nothing is worked around without one. listing: where file names came from, and for a manifest
 * how old it is. filesTotal, filesPruned: a partition, or a folder of them, that was ruled out before its files were known counts as one
 * of both. pinned: false where the host hides ETags from script, so that a change under way cannot be seen.
 */
export interface ReadMetrics {
  readonly requests: number; readonly bytes: number; readonly cacheHits: number; readonly filesTotal: number; readonly filesPruned: number;
  readonly rowGroupsPruned: number; readonly rowsScanned: number; readonly corruptLogBlocks: number; readonly ms: number; readonly wasmBytes: number;
  readonly warnings: readonly string[]; readonly pinned: boolean;
  readonly listing: { readonly source: 'store' | 'metadata-table' | 'manifest' | 'custom'; readonly madeAt?: string; readonly newestInstant?: string };
}
/**
 * min and max read as a filter's value does; absent where nobody knows them, as with a log file that has no statistics. valueCount counts nulls too.
 * tight: rows have these very values; false where a log file may have replaced them or long text may be cut.
 */
export interface ColumnStatsRow {
  readonly column: string; readonly filePath?: string /* absent: all files */;
  readonly min?: string | number | bigint | boolean; readonly max?: string | number | bigint | boolean;
  readonly nullCount?: number; readonly valueCount?: number; readonly tight: boolean; readonly source: 'metadata-table' | 'footer';
}
export interface ReadPlan { readonly instant: string; readonly files: readonly { slice: HudiFileSlice; prunedBy?: 'partition' | 'partition-stats' | 'column-stats' | 'record-index' | 'secondary-index' | 'bucket' | 'bloom-filter' | 'expression-index' }[]; readonly estimatedRequests: number; readonly estimatedBytes: number }

// ───────── errors ─────────
/**
 * The one set of codes: Rust's `ErrorKind::TableNotFound` is `'TABLE_NOT_FOUND'` here. A code never changes its meaning. `retryable` is
 * true for `later` (the same call may succeed; the engine's own retries are spent) and for `redo` (`refresh()`, then the call again).
 *
 * | code                | retry | meaning |
 * |---------------------|-------|---------|
 * | INVALID_ARGUMENT    | no    | an option, filter, timestamp, key or row that no table would take |
 * | SCHEMA              | no    | columns or types do not fit this table: unknown filter column, value that does not parse, refused evolution |
 * | UNSUPPORTED         | no    | well-formed, but this table version, feature, codec or mode is not handled; nothing was written |
 * | ABORTED             | no    | the caller's signal fired: `cause` is its reason, `name` is 'AbortError'; a write not yet committed stays invisible |
 * | DISPOSED            | no    | the handle was closed, or its instance died in a trap: a new open works |
 * | LIMIT_EXCEEDED      | no    | a bound that the caller set or the host has (bytes, requests, nesting) would be passed |
 * | TABLE_NOT_FOUND     | no    | no `.hoodie/hoodie.properties` below the URI |
 * | TABLE_EXISTS        | no    | create found a table there |
 * | NOT_FOUND           | no    | a named instant, savepoint or partition, or a file that the timeline counts on, is not there |
 * | INSTANT_PENDING     | later | as of a time at or past the first incomplete commit, deltacommit or replacecommit: not settled yet; the newest snapshot needs no asOf |
 * | INSTANT_EXPIRED     | no    | files that the as-of or the range needs are cleaned; a later start or a full read would do |
 * | UNAUTHORIZED        | no    | 401 or 403: credentials absent, expired or refused, or a signature that does not match |
 * | NETWORK             | later | no answer: offline, DNS, reset, timeout, or CORS, which looks the same (`hint` has the rule to add) |
 * | THROTTLED           | later | 429 or 503: slow down |
 * | UNAVAILABLE         | later | another 5xx |
 * | RANGE_NOT_SUPPORTED | no    | a range was asked and the whole object or another range came |
 * | LIST_NOT_SUPPORTED  | no    | the store cannot list and no `listing` was given |
 * | READ_ONLY_STORAGE   | no    | the store cannot write, or lacks the conditional put that the concurrency mode needs |
 * | PRECONDITION_FAILED | redo  | an object changed under a pinned handle, or a conditional put outside a commit was refused |
 * | WRITE_CONFLICT      | redo  | another writer was at work meanwhile, or took the instant; nothing of this write is visible |
 * | LOCK_TIMEOUT        | later | the lock was not had in time, or was lost before the commit; nothing is visible |
 * | COMMIT_STATE_UNKNOWN| no    | what a write did could not be read back, as when the answer to the completing put was lost: `resolve(context.instant)` before writing again |
 * | CORRUPT             | no    | bytes that break the format; `path` and `context.offset` say where |
 * | OUT_OF_MEMORY       | no    | wasm memory could not grow; the instance was replaced: smaller batches, a narrower projection |
 * | WASM_INIT           | later | the module could not be fetched or compiled; the next call tries again |
 * | INTERNAL            | no    | a fault of this library, panics included: please report |
 */
export type HudiErrorCode =
  | 'INVALID_ARGUMENT' | 'SCHEMA' | 'UNSUPPORTED' | 'ABORTED' | 'DISPOSED' | 'LIMIT_EXCEEDED'
  | 'TABLE_NOT_FOUND' | 'TABLE_EXISTS' | 'NOT_FOUND' | 'INSTANT_PENDING' | 'INSTANT_EXPIRED'
  | 'UNAUTHORIZED' | 'NETWORK' | 'THROTTLED' | 'UNAVAILABLE' | 'RANGE_NOT_SUPPORTED' | 'LIST_NOT_SUPPORTED' | 'READ_ONLY_STORAGE'
  | 'PRECONDITION_FAILED' | 'WRITE_CONFLICT' | 'LOCK_TIMEOUT' | 'COMMIT_STATE_UNKNOWN'
  | 'CORRUPT' | 'OUT_OF_MEMORY' | 'WASM_INIT' | 'INTERNAL';
/** Messages may change; code and context keys may not. `path`, `status` and `hint` are there when known. */
export class HudiError extends Error {
  readonly name: 'HudiError' | 'AbortError'; readonly code: HudiErrorCode; readonly retryable: boolean;
  readonly path?: string; readonly status?: number; readonly hint?: string; readonly context: Readonly<Record<string, string>>; readonly cause?: unknown;
  static is(e: unknown, code?: HudiErrorCode): e is HudiError;   // works across realms
}
