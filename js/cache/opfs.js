// Pieces as files of the browser's private file system. A file begins with the length of its head, four bytes, and the head, JSON; a piece
// comes into being when its file is closed, but a crash may leave an empty one, so lengths are held against the name.
import { HudiError } from '../errors.js';

const folderName = 'hudi-wasm-cache';

/** @returns {import('./persistent.js').Backend} */
export function opfsBackend() {
  if (typeof navigator !== 'object' || typeof navigator?.storage?.getDirectory !== 'function') {
    throw new HudiError('UNSUPPORTED', 'this host has no private file system', { hint: 'Pages have it where their origin is secure: https or localhost.' });
  }
  const opened = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(folderName, { create: true });
  return {
    async list() {
      const found = [];
      for await (const [name, handle] of /** @type {any} */ (await opened()).entries()) {
        if (handle.kind === 'file' && !name.endsWith('.crswap')) found.push(handle.getFile().then((/** @type {File} */ file) => ({ name, size: file.size })).catch(ifGone));
      }
      return (await Promise.all(found)).filter((entry) => entry !== undefined);
    },
    async read(name) {
      const file = await (await opened()).getFileHandle(name).then((handle) => handle.getFile()).catch(ifGone);
      if (file === undefined || file.size < 4) return undefined;
      const bytes = new Uint8Array(await file.arrayBuffer());
      const length = new DataView(bytes.buffer).getUint32(0);
      if (4 + length > bytes.length) return undefined;
      const about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
      return { data: bytes.subarray(4 + length), about };
    },
    async write(name, data, about) {
      const head = new TextEncoder().encode(JSON.stringify(about));
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, head.length);
      const folder = await opened();
      const writable = await (await folder.getFileHandle(name, { create: true })).createWritable();
      try {
        await writable.write(new Blob([length, head, /** @type {any} */ (data)]));
        await writable.close();
      } catch (error) {
        await writable.abort().catch(() => {});
        await folder.removeEntry(name).catch(() => {});
        throw error;
      }
    },
    async remove(name) {
      await (await opened()).removeEntry(name).catch(ifGone);
    },
  };
}

/** Another tab dropped the file. @returns {undefined} */
function ifGone(/** @type {unknown} */ error) {
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotFoundError' || name === 'NotReadableError' || name === 'NoModificationAllowedError') return undefined;
  throw error;
}
