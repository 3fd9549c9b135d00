// An Arrow IPC stream read for display: its fields, and per batch a reader that gives one value at a time. A whole Arrow
// library would be most of the page's JavaScript; the page needs no arithmetic on columns, only their text.

import { Table } from './flatbuffer.js';

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {boolean} nullable
 * @property {string} type Arrow's own word, small letters: `int`, `utf8`, `decimal`, `timestamp`, `list`, …
 * @property {number} width bits of an int, float, time or decimal; bytes of a fixed binary; elements of a fixed list
 * @property {boolean} signed
 * @property {number} precision
 * @property {number} scale
 * @property {number} unit 0 s, 1 ms, 2 µs, 3 ns; of a date: 0 days, 1 ms
 * @property {string | undefined} zone
 * @property {Field[]} children
 *
 * @typedef {{ field: Field, length: number, validity: Uint8Array | undefined, buffers: DataView[], children: Vector[] }} Vector
 * @typedef {{ length: number, columns: Vector[] }} Batch
 */

const names = [
  'none',
  'null',
  'int',
  'float',
  'binary',
  'utf8',
  'bool',
  'decimal',
  'date',
  'time',
  'timestamp',
  'interval',
  'list',
  'struct',
  'union',
  'fixed',
  'fixedlist',
  'map',
  'duration',
  'binary64',
  'utf864',
  'list64',
];
const buffersOf = /** @type {Record<string, number>} */ ({
  null: 0,
  struct: 1,
  fixedlist: 1,
  list: 2,
  map: 2,
  list64: 2,
  utf8: 3,
  binary: 3,
  utf864: 3,
  binary64: 3,
});
const schemaHeader = 1;
const batchHeader = 3;

/** @param {Uint8Array} ipc @returns {{ fields: Field[], batches: Batch[] }} */
export function readStream(ipc) {
  const view = new DataView(ipc.buffer, ipc.byteOffset, ipc.byteLength);
  /** @type {Field[]} */
  let fields = [];
  /** @type {Batch[]} */
  const batches = [];
  for (let at = 0; at + 8 <= ipc.byteLength;) {
    const start = view.getUint32(at, true) === 0xffffffff ? at + 8 : at + 4;
    const size = view.getInt32(start - 4, true);
    if (size === 0) break;
    const message = Table.root(new DataView(ipc.buffer, ipc.byteOffset + start, size));
    const body = start + size;
    const header = message.table(2);
    const kind = message.int8(1);
    if (header && kind === schemaHeader) fields = header.tables(1).map(readField);
    else if (header && kind === batchHeader) batches.push(readBatch(header, fields, new DataView(ipc.buffer, ipc.byteOffset + body)));
    else throw new Error(`an Arrow message of kind ${kind} is not expected here`);
    at = body + message.int64(3);
  }
  return { fields, batches };
}

/** @param {Table} table @returns {Field} */
function readField(table) {
  if (table.table(4)) throw new Error('dictionary columns are not expected here');
  const type = names[table.int8(2)] ?? 'none';
  const facts = table.table(3);
  const numbers = facts ? typeFacts(type, facts) : {};
  return {
    name: table.string(0) ?? '',
    nullable: table.int8(1) !== 0,
    type,
    width: 0,
    signed: true,
    precision: 0,
    scale: 0,
    unit: 0,
    zone: undefined,
    ...numbers,
    children: table.tables(5).map(readField),
  };
}

/** @param {string} type @param {Table} facts @returns {Partial<Field>} */
function typeFacts(type, facts) {
  switch (type) {
    case 'int':
      return { width: facts.int32(0), signed: facts.int8(1) !== 0 };
    case 'float':
      return { width: 16 << facts.int16(0) };
    case 'decimal':
      return { precision: facts.int32(0), scale: facts.int32(1), width: facts.int32(2, 128) };
    case 'date':
      return { unit: facts.int16(0, 1) };
    case 'time':
      return { unit: facts.int16(0, 1), width: facts.int32(1, 32) };
    case 'timestamp':
      return { unit: facts.int16(0), zone: facts.string(1) };
    case 'duration':
      return { unit: facts.int16(0, 1) };
    case 'fixed':
    case 'fixedlist':
      return { width: facts.int32(0) };
    default:
      return {};
  }
}

/** @param {Table} header @param {Field[]} fields @param {DataView} body @returns {Batch} */
function readBatch(header, fields, body) {
  if (header.table(3)) throw new Error('compressed Arrow batches are not expected here');
  const nodes = header.vector(1);
  const buffers = header.vector(2);
  const view = header.view;
  let node = 0;
  let buffer = 0;
  const next = () => {
    const at = buffers.start + 16 * buffer++;
    const offset = Number(view.getBigInt64(at, true));
    return new DataView(body.buffer, body.byteOffset + offset, Number(view.getBigInt64(at + 8, true)));
  };
  /** @param {Field} field @returns {Vector} */
  const vector = (field) => {
    const at = nodes.start + 16 * node++;
    const length = Number(view.getBigInt64(at, true));
    const nulls = Number(view.getBigInt64(at + 8, true));
    const own = Array.from({ length: buffersOf[field.type] ?? 2 }, next);
    const bits = own.shift();
    const validity = nulls > 0 && bits && bits.byteLength > 0 ? new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength) : undefined;
    return { field, length, validity, buffers: own, children: field.children.map(vector) };
  };
  return { length: header.int64(0), columns: fields.map(vector) };
}

/** @param {Vector} vector @param {number} row */
export function isNull(vector, row) {
  if (vector.field.type === 'null') return true;
  return vector.validity !== undefined && ((vector.validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0;
}
