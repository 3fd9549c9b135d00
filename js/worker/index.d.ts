import type { CreateOptions, HudiFileGroupReader, HudiTable, OpenOptions, WasmSource } from '../index.d.ts';

/** An engine in a Worker. Its tables are those of the package: batches come by transfer, `signal` and `onProgress` work as ever. */
export interface HudiWorker extends Disposable {
  readonly HudiTable: { open(uri: string | URL, options?: OpenOptions): Promise<HudiTable>; create(uri: string | URL, options: CreateOptions): Promise<HudiTable> };
  readonly HudiFileGroupReader: { open(uri: string | URL, options?: OpenOptions): Promise<HudiFileGroupReader> };
  /** Ends the Worker and gives its memory back: what is under way, and every table of it, is DISPOSED. The next open() starts another. */
  terminate(): void;
}
/**
 * Many tables share the one Worker, which starts with the first open(). When it crashes, what was under way fails with INTERNAL and the next
 * open() starts another. Functions and custom stores among the storage options stay on this side and are asked from there.
 *
 * `worker` makes the Worker where a bundler does not find it: it runs `hudi-wasm/worker/main.js`. `module` is for init() there.
 */
export function createHudiWorker(options?: { worker?: () => Worker; module?: Exclude<WasmSource, Request | Response | Promise<Response>> }): HudiWorker;
