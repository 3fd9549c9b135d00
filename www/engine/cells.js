// Arrow values as text: exact for decimals, longs and times, compact JSON for what is nested, hex with its length for bytes.

import { isNull, readStream } from './ipc.js';

/**
 * @typedef {import('./ipc.js').Field} Field
 * @typedef {import('./ipc.js').Vector} Vector
 * @typedef {import('../types.js').Cell} Cell
 * @typedef {import('../types.js').Column} Column
 * @typedef {import('../types.js').CellKind} CellKind
 */

const shownBytes = 24;
const decoder = new TextDecoder();

/** @param {Uint8Array} ipc @returns {{ columns: Column[], rows: Cell[][] }} */
export function tableOf(ipc) {
  const { fields, batches } = readStream(ipc);
  const rows = batches.flatMap(({ length, columns }) => Array.from({ length }, (_, row) => columns.map((vector) => cell(vector, row))));
  return { columns: fields.map(columnOf), rows };
}

/** @param {Uint8Array} ipc @returns {Column[]} */
export const columnsOf = (ipc) => readStream(ipc).fields.map(columnOf);

/** @param {Field} field @returns {Column} */
export const columnOf = (field) => ({ name: field.name, type: typeName(field), kind: kindOf(field), nullable: field.nullable });

/** @param {Vector} vector @param {number} row @returns {Cell} */
function cell(vector, row) {
  if (isNull(vector, row)) return null;
  const value = valueOf(vector, row);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A type in the words of Spark and Hudi. @param {Field} field @returns {string} */
export function typeName(field) {
  const { type, width, children, precision, scale, zone } = field;
  const child = (/** @type {number} */ i) => (children[i] ? typeName(children[i]) : '?');
  switch (type) {
    case 'int':
      return width === 64 ? 'long' : width === 32 ? 'int' : `int${width}`;
    case 'float':
      return width === 64 ? 'double' : 'float';
    case 'utf8':
    case 'utf864':
      return 'string';
    case 'bool':
      return 'boolean';
    case 'binary64':
      return 'binary';
    case 'fixed':
      return `fixed(${width})`;
    case 'decimal':
      return `decimal(${precision},${scale})`;
    case 'timestamp':
      return zone === undefined ? 'timestamp_ntz' : 'timestamp';
    case 'list':
    case 'list64':
    case 'fixedlist':
      return `array<${child(0)}>`;
    case 'map':
      return `map<${(children[0]?.children ?? []).map(typeName).join(', ')}>`;
    case 'struct':
      return `struct<${children.map((one) => `${one.name}: ${typeName(one)}`).join(', ')}>`;
    default:
      return type;
  }
}

/** @param {Field} field @returns {CellKind} */
function kindOf({ type }) {
  if (['int', 'float', 'decimal', 'duration'].includes(type)) return 'number';
  if (['date', 'time', 'timestamp'].includes(type)) return 'time';
  if (['binary', 'binary64', 'fixed'].includes(type)) return 'binary';
  if (['list', 'list64', 'fixedlist', 'map', 'struct', 'union'].includes(type)) return 'nested';
  return type === 'bool' ? 'boolean' : 'text';
}

/**
 * Text, or for nested types what JSON.stringify shows well. Inside nested values numbers that fit stay numbers.
 * @param {Vector} vector @param {number} row @returns {unknown}
 */
function valueOf(vector, row) {
  const { field, buffers, children } = vector;
  const [data] = buffers;
  switch (field.type) {
    case 'bool':
      return data && (data.getUint8(row >> 3) & (1 << (row & 7))) !== 0 ? 'true' : 'false';
    case 'int':
      return data ? integer(data, field, row).toString() : '';
    case 'float':
      return data ? float(data, field.width, row) : '';
    case 'decimal':
      return data ? decimal(data, field, row) : '';
    case 'date':
      return data
        ? new Date(field.unit === 0 ? data.getInt32(4 * row, true) * 86_400_000 : Number(data.getBigInt64(8 * row, true)))
            .toISOString()
            .slice(0, 10)
        : '';
    case 'time':
      return data ? timeOfDay(field.width === 64 ? data.getBigInt64(8 * row, true) : BigInt(data.getInt32(4 * row, true)), field.unit) : '';
    case 'timestamp':
      return data ? timestamp(data.getBigInt64(8 * row, true), field) : '';
    case 'utf8':
    case 'utf864':
      return decoder.decode(slice(vector, row));
    case 'binary':
    case 'binary64':
      return hex(slice(vector, row));
    case 'fixed':
      return data ? hex(new Uint8Array(data.buffer, data.byteOffset + row * field.width, field.width)) : '';
    case 'struct':
      return Object.fromEntries(children.map((one) => [one.field.name, inner(one, row)]));
    case 'list':
    case 'list64':
    case 'fixedlist':
      return elements(vector, row, (child, i) => inner(child, i));
    case 'map':
      return Object.fromEntries(
        elements(vector, row, (entry, i) => {
          const [key, value] = entry.children;
          return [key ? String(inner(key, i)) : '', value ? inner(value, i) : null];
        }),
      );
    default:
      return `(${field.type})`;
  }
}

/** A value within a nested one. @param {Vector} vector @param {number} row @returns {unknown} */
function inner(vector, row) {
  if (isNull(vector, row)) return null;
  const value = valueOf(vector, row);
  if (vector.field.type === 'bool') return value === 'true';
  if ((vector.field.type === 'int' || vector.field.type === 'float') && String(Number(value)) === value && Number.isFinite(Number(value)))
    return Number(value);
  return value;
}

/** @template T @param {Vector} vector @param {number} row @param {(child: Vector, i: number) => T} give @returns {T[]} */
function elements({ field, buffers, children }, row, give) {
  const [child] = children;
  if (!child) return [];
  const [start, end] =
    field.type === 'fixedlist' ? [row * field.width, (row + 1) * field.width] : offsets(buffers[0], row, field.type === 'list64');
  return Array.from({ length: end - start }, (_, i) => give(child, start + i));
}

/** @param {DataView | undefined} view @param {number} row @param {boolean} wide @returns {[number, number]} */
function offsets(view, row, wide) {
  if (!view || view.byteLength === 0) return [0, 0];
  if (wide) return [Number(view.getBigInt64(8 * row, true)), Number(view.getBigInt64(8 * row + 8, true))];
  return [view.getInt32(4 * row, true), view.getInt32(4 * row + 4, true)];
}

/** @param {Vector} vector @param {number} row */
function slice({ field, buffers }, row) {
  const [start, end] = offsets(buffers[0], row, field.type.endsWith('64'));
  const data = buffers[1];
  return data ? new Uint8Array(data.buffer, data.byteOffset + start, end - start) : new Uint8Array();
}

/** @param {DataView} data @param {Field} field @param {number} row @returns {number | bigint} */
function integer(data, { width, signed }, row) {
  if (width === 64) return signed ? data.getBigInt64(8 * row, true) : data.getBigUint64(8 * row, true);
  if (width === 32) return signed ? data.getInt32(4 * row, true) : data.getUint32(4 * row, true);
  if (width === 16) return signed ? data.getInt16(2 * row, true) : data.getUint16(2 * row, true);
  return signed ? data.getInt8(row) : data.getUint8(row);
}

/** A float's shortest text that reads back as the same float. @param {DataView} data @param {number} width @param {number} row */
function float(data, width, row) {
  const value = width === 64 ? data.getFloat64(8 * row, true) : data.getFloat32(4 * row, true);
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toFixed(1);
  if (width === 64 || !Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}

/** @param {DataView} data @param {Field} field @param {number} row */
function decimal(data, { width, scale }, row) {
  const words = width / 64;
  let value = 0n;
  for (let i = words - 1; i >= 0; i--) value = (value << 64n) | data.getBigUint64(8 * (row * words + i), true);
  return scaled(BigInt.asIntN(width, value), scale);
}

/** @param {bigint} value @param {number} scale */
function scaled(value, scale) {
  if (scale <= 0) return (value * 10n ** BigInt(-scale)).toString();
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** @param {bigint} value @param {number} unit */
function timeOfDay(value, unit) {
  const [seconds, rest] = split(value, unit);
  const text = new Date(Number(seconds) * 1000).toISOString().slice(11, 19);
  return text + fraction(rest, unit);
}

/** @param {bigint} value @param {Field} field */
function timestamp(value, { unit, zone }) {
  const [seconds, rest] = split(value, unit);
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return `${value} ${['s', 'ms', 'µs', 'ns'][unit]}`;
  const text = date.toISOString().replace('T', ' ').slice(0, -5);
  return `${text}${fraction(rest, unit)}${zone === undefined ? '' : 'Z'}`;
}

/** Seconds and what is left, never negative. @param {bigint} value @param {number} unit @returns {[bigint, bigint]} */
function split(value, unit) {
  const per = 10n ** BigInt(3 * unit);
  const rest = ((value % per) + per) % per;
  return [(value - rest) / per, rest];
}

/** @param {bigint} rest @param {number} unit */
const fraction = (rest, unit) =>
  rest === 0n
    ? ''
    : `.${rest
        .toString()
        .padStart(3 * unit, '0')
        .replace(/0+$/, '')}`;

/** @param {Uint8Array} bytes */
function hex(bytes) {
  const head = Array.from(bytes.subarray(0, shownBytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${head}${bytes.length > shownBytes ? '…' : ''} (${bytes.length} B)`;
}
