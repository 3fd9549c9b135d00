// DuckDB's own build for Node, which runs where it is called.
import { createRequire } from 'node:module';

/** A database in memory, ready to be connected to. */
export async function duckdbInNode() {
  const load = createRequire(import.meta.url);
  const folder = '@duckdb/duckdb-wasm/dist';
  const duckdb = load(`${folder}/duckdb-node-blocking.cjs`);
  const mainModule = load.resolve(`${folder}/duckdb-eh.wasm`);
  const bundle = { mainModule };
  const db = await duckdb.createDuckDB({ mvp: bundle, eh: bundle }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
  await db.instantiate(() => {});
  return db;
}
