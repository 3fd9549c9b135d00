// The list of tables in tests/README.md, from what is recorded of each.

/** @typedef {{ table: string, hudi: string, tableVersion: number, tableType: string, note: string, queries: import('./spark.js').Entry[] }} Expected */

const head = '| table | Hudi | version | type | shows | recorded queries |\n|---|---|---|---|---|---|\n';

/**
 * The page with its list written anew.
 *
 * @param {string} page
 * @param {Expected[]} tables
 */
export function rewritten(page, tables) {
  const at = page.indexOf(head);
  if (at < 0) throw new Error('tests/README.md has no list of tables');
  const after = /^(?!\|)/m.exec(page.slice(at + head.length));
  const rest = after === null ? '' : page.slice(at + head.length + after.index);
  return `${page.slice(0, at)}${head}${tables.map(line).join('')}${rest}`;
}

/** @param {Expected} table */
function line({ table, hudi, tableVersion, tableType, note, queries }) {
  const type = tableType === 'MERGE_ON_READ' ? 'MOR' : 'COW';
  const shows = note.split(' All instants in order:')[0]?.replaceAll('|', '\\|');
  return `| ${table} | ${hudi} | ${tableVersion} | ${type} | ${shows} | ${counts(queries)} |\n`;
}

/** How many queries of each kind, in the order first asked. @param {import('./spark.js').Entry[]} queries */
function counts(queries) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const entry of queries) found.set(kind(entry), (found.get(kind(entry)) ?? 0) + 1);
  return [...found].map(([word, n]) => `${word} ${n}`).join(', ');
}

/** @param {import('./spark.js').Entry} entry */
function kind({ query, error }) {
  if (error !== undefined) return 'refused';
  if (query.asOf !== undefined) return 'as of';
  if (query.readOptimized === true) return 'read-optimized';
  if (query.filters !== undefined) return 'filter';
  return query.projection !== undefined ? 'projection' : query.queryType;
}
