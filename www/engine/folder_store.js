// A table in a folder of this computer, as the browser hands it over: files are read in place, a range at a time.

/** @typedef {import('../../js/index.js').ObjectStore} ObjectStore */

const marker = '.hoodie/hoodie.properties';

/**
 * Files of a chosen folder by path relative to the table: to the shallowest folder that holds a table, else to the chosen one.
 *
 * @param {readonly File[]} files
 * @returns {Map<string, File>}
 */
export function filesOfTable(files) {
  const paths = files.map((file) => file.webkitRelativePath || file.name);
  const roots = paths.filter((path) => path === marker || path.endsWith(`/${marker}`)).map((path) => path.slice(0, -marker.length));
  const root = roots.sort((a, b) => a.length - b.length)[0] ?? `${paths[0]?.split('/')[0] ?? ''}/`;
  return new Map(files.flatMap((file, i) => (paths[i]?.startsWith(root) ? [[paths[i].slice(root.length), file]] : [])));
}

/** @param {ReadonlyMap<string, File>} files @returns {ObjectStore} */
export function folderStore(files) {
  return {
    capabilities: { write: false, list: true, putIfAbsent: false, putIfMatch: false },
    async get(path, { range, signal } = {}) {
      signal?.throwIfAborted();
      const file = files.get(path);
      if (!file) throw Object.assign(new Error(`${path} is not in the folder`), { status: 404 });
      const [start, end] = !range
        ? [0, file.size]
        : 'suffix' in range
          ? [Math.max(0, file.size - range.suffix), file.size]
          : [range.start, range.end];
      return { data: new Uint8Array(await file.slice(start, end).arrayBuffer()), size: file.size };
    },
    async *list(prefix, { delimiter, startAfter = '' }) {
      const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
      const below = [...files.keys()].filter((path) => path.startsWith(folder) && path > startAfter).sort();
      const folders = new Set();
      for (const path of below) {
        const cut = delimiter === undefined ? -1 : path.indexOf(delimiter, folder.length);
        if (cut < 0) yield { path, size: files.get(path)?.size ?? 0 };
        else folders.add(path.slice(0, cut + 1));
      }
      for (const name of folders) yield { prefix: String(name) };
    },
  };
}
