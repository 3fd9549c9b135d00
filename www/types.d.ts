// What the page's rooms hand to each other. The engine's own types are those of js/index.d.ts.
import type { FilterTuple, HudiErrorCode, HudiFileSlice, ReadMetrics, RequestInfoEvent, StorageInit, TimelineEntry } from '../js/index.js';

export type { FilterTuple, HudiFileSlice, ReadMetrics, RequestInfoEvent, TimelineEntry };

/** Where a table is and how it is reached. `secret` parts live in memory only: link.js never sees them. */
export interface Place {
  readonly uri: string;
  readonly kind: 'http' | 's3' | 'folder';
  /** http: address of the manifest. */
  readonly manifest?: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly pathStyle?: boolean;
  readonly anonymous?: boolean;
  readonly timezone?: string;
  readonly sample?: string;
}
export interface Secret {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  readonly authorization?: string;
  /** Not secret, and as little part of a link: the files of a chosen folder. */
  readonly files?: readonly File[];
}
export type PageStorage = StorageInit | { readonly type: 'folder'; readonly files: readonly File[] };

export interface Sample { readonly name: string; readonly note: string; readonly folder: string; readonly manifest: string }

/** One column as the page shows it. `kind` decides alignment and face. */
export interface Column { readonly name: string; readonly type: string; readonly kind: CellKind; readonly nullable: boolean }
export type CellKind = 'text' | 'number' | 'time' | 'binary' | 'nested' | 'boolean';
/** A cell as text, or null for SQL's null. */
export type Cell = string | null;

export interface TableFacts {
  readonly name: string;
  readonly type: 'COPY_ON_WRITE' | 'MERGE_ON_READ';
  readonly version: number;
  /** 'UTC' or 'LOCAL': whose clock wrote the instants. */
  readonly timezone: string;
  readonly newest: string | undefined;
  readonly instants: readonly TimelineEntry[];
  /** Requested times of completed replacecommits that are clusterings. */
  readonly clusterings: readonly string[];
  readonly columns: readonly Column[];
  readonly metaColumns: readonly Column[];
  readonly partitionFields: readonly string[];
  readonly keyFields: readonly string[];
  readonly orderingFields: readonly string[];
}

export interface RowsQuestion {
  readonly asOf: string | undefined;
  readonly filters: readonly FilterTuple[];
  readonly projection: readonly string[];
  readonly limit: number;
  readonly readOptimized: boolean;
}
export interface RowsAnswer { readonly columns: readonly Column[]; readonly rows: readonly (readonly Cell[])[]; readonly metrics: ReadMetrics }

/** The engine as the page calls it. */
export interface Engine {
  open(question: { uri: string; storage: PageStorage; timezone?: string; guessed?: boolean /* the manifest's address is the usual one, not one that was given */ }): Promise<TableFacts>;
  rows(question: RowsQuestion): Promise<RowsAnswer>;
  slices(question: { asOf: string | undefined; filters?: readonly FilterTuple[] }): Promise<readonly HudiFileSlice[]>;
  avro(question?: undefined): Promise<string>;
  instant(entry: TimelineEntry): Promise<string>;
}

/** A failure as plain data. */
export interface Failure {
  readonly code: HudiErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly path?: string;
  readonly status?: number;
  readonly hint?: string;
  readonly context: Readonly<Record<string, string>>;
}

/** A request with the action that caused it and its place on the page's clock, in milliseconds. */
export interface SeenRequest extends RequestInfoEvent { readonly id: number; readonly action: number; readonly began: number; readonly from: 'network' | 'cache' | 'manifest' | 'disk' }

/** What the last call to the engine did: the footer's truth. */
export interface ActionFacts {
  readonly id: number;
  readonly label: string;
  readonly began: number;
  readonly ms: number;
  readonly requests: number;
  readonly bytes: number;
  readonly cacheHits: number;
  readonly memory?: number;
}

export type TaskState<T> =
  | { readonly status: 'idle' }
  | { readonly status: 'loading'; readonly last?: T }
  | { readonly status: 'ready'; readonly value: T }
  | { readonly status: 'cancelled' }
  | { readonly status: 'failed'; readonly failure: Failure };

export type ViewName = 'data' | 'files' | 'timeline' | 'schema' | 'requests';

export type Selected =
  | { readonly kind: 'row'; readonly columns: readonly Column[]; readonly cells: readonly Cell[]; readonly index: number }
  | { readonly kind: 'slice'; readonly slice: HudiFileSlice }
  | { readonly kind: 'instant'; readonly entry: TimelineEntry }
  | { readonly kind: 'field'; readonly column: Column }
  | { readonly kind: 'request'; readonly request: SeenRequest }
  | { readonly kind: 'warnings' };
