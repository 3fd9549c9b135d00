// Reads a zip archive with Node's own modules: stored and deflated members, no encryption, no zip64.
import { inflateRawSync } from 'node:zlib';

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endSize = 22;
const commentMost = 65_535;

/**
 * The archive's files, folders left out, in the order of its directory.
 *
 * @param {Buffer} zip
 * @returns {{ path: string, data: Buffer }[]}
 */
export function unzip(zip) {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  const files = [];
  for (let at = zip.readUInt32LE(end + 16), i = 0; i < count; i++) {
    if (zip.readUInt32LE(at) !== entryMark) throw new Error('the zip directory is damaged');
    const [nameSize, extraSize, commentSize] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    const path = zip.toString('utf8', at + 46, at + 46 + nameSize);
    if (!path.endsWith('/')) files.push({ path, data: member(zip, at, path) });
    at += 46 + nameSize + extraSize + commentSize;
  }
  return files;
}

/** @param {Buffer} zip @param {number} entry @param {string} path */
function member(zip, entry, path) {
  const method = zip.readUInt16LE(entry + 10);
  const [packed, size, local] = [zip.readUInt32LE(entry + 20), zip.readUInt32LE(entry + 24), zip.readUInt32LE(entry + 42)];
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const bytes = zip.subarray(start, start + packed);
  if (method !== 0 && method !== 8) throw new Error(`${path} is packed by method ${method}`);
  const data = method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: size + 1 });
  if (data.length !== size) throw new Error(`${path} has ${data.length} bytes, the directory says ${size}`);
  return data;
}

/** @param {Buffer} zip */
function findEnd(zip) {
  for (let at = zip.length - endSize; at >= Math.max(0, zip.length - endSize - commentMost); at--) {
    if (zip.readUInt32LE(at) === endMark) return at;
  }
  throw new Error('not a zip archive');
}
