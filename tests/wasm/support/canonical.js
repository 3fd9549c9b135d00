// Arrow rows in the form of NAME.expected.json; tests/README.md describes it. Runs in Node and in a page.
import { Type } from 'apache-arrow';

/** @typedef {import('apache-arrow').Data} Data */

const left = new Set(['_hoodie_commit_seqno', '_hoodie_file_name']);

/**
 * The rows of a table as plain JSON values, without the two columns that differ from run to run, sorted by their text.
 *
 * @param {import('apache-arrow').Table} table
 */
export function rows(table) {
  const found = table.batches.flatMap(({ data }) => {
    const kept = data.type.children.flatMap((field, column) => (left.has(field.name) ? [] : [{ name: field.name, column }]));
    return Array.from({ length: data.length }, (_, i) =>
      Object.fromEntries(kept.map(({ name, column }) => [name, value(/** @type {Data} */ (data.children[column]), i)])),
    );
  });
  return sorted(found);
}

/** Rows by their text, in which the keys of objects stand in one order. @param {unknown[]} list */
export function sorted(list) {
  return list
    .map((row) => ({ row, key: textOf(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

/** A value's JSON with the keys of objects in one order. @param {unknown} value */
export function textOf(value) {
  return JSON.stringify(value, (_, inner) => (isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner));
}

const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns {unknown} */
function value(/** @type {Data} */ data, /** @type {number} */ i) {
  if (data.typeId === Type.Null || !data.getValid(i)) return null;
  const { type, values, valueOffsets, children } = /** @type {any} */ (data);
  switch (data.typeId) {
    case Type.Bool:
      return ((values[(data.offset + i) >> 3] >> (data.offset + i) % 8) & 1) === 1;
    case Type.Int:
      return whole(BigInt(values[i]));
    case Type.Float:
      return float(values[i]);
    case Type.Utf8:
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(values.subarray(valueOffsets[i], valueOffsets[i + 1]));
    case Type.Binary:
      return base64(values.subarray(valueOffsets[i], valueOffsets[i + 1]));
    case Type.FixedSizeBinary:
      return base64(values.subarray(i * type.byteWidth, (i + 1) * type.byteWidth));
    case Type.Decimal:
      return decimal(values.subarray(i * data.stride, (i + 1) * data.stride), type.scale);
    case Type.Date:
      return moment(BigInt(values[i]) * 86_400_000_000n).slice(0, 10);
    case Type.Timestamp:
      return moment((BigInt(values[i]) * 1_000_000n) / 10n ** BigInt(type.unit * 3)) + (type.timezone ? 'Z' : '');
    case Type.List:
      return span(valueOffsets, i).map((at) => value(children[0], at));
    case Type.FixedSizeList:
      return Array.from({ length: type.listSize }, (_, at) => value(children[0], i * type.listSize + at));
    case Type.Struct:
      return Object.fromEntries(type.children.map((/** @type {any} */ field, /** @type {number} */ at) => [field.name, value(children[at], i)]));
    case Type.Map: {
      const [keys, items] = children[0].children;
      const pairs = span(valueOffsets, i).map((at) => [value(keys, at), value(items, at)]);
      return pairs.sort(([a], [b]) => (ascii(a) < ascii(b) ? -1 : 1));
    }
    default:
      throw new Error(`no text is agreed for ${type}`);
  }
}

const span = (/** @type {Int32Array} */ offsets, /** @type {number} */ i) =>
  Array.from({ length: Number(offsets[i + 1]) - Number(offsets[i]) }, (_, at) => Number(offsets[i]) + at);

const whole = (/** @type {bigint} */ n) => (n > -(2n ** 53n) && n < 2n ** 53n ? Number(n) : String(n));

/** The shortest text that reads back as the double, as Python writes it. */
export function float(/** @type {number} */ x) {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
  if (Object.is(x, -0)) return '-0.0';
  const [digits = '', power = '0'] = x.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const places = Math.max(1, digits.replace(/^-?\d\.?/, '').length - exponent);
  return x.toFixed(places);
}

/** @param {Uint32Array} words little end first, as two's complement @param {number} scale */
function decimal(words, scale) {
  const raw = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);
  const n = BigInt.asIntN(words.length * 32, raw);
  if (scale === 0) return String(n);
  const text = String(n < 0n ? -n : n).padStart(scale + 1, '0');
  return `${n < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

/** Microseconds since 1970 as a date and time of day. */
function moment(/** @type {bigint} */ micros) {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const text = new Date(Number((micros - rest) / 1000n)).toISOString().replace(/\.\d+Z$/, '');
  return `${text}.${String(rest).padStart(6, '0')}`;
}

function base64(/** @type {Uint8Array} */ bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** JSON text with everything beyond ASCII escaped, by which maps were sorted. */
const ascii = (/** @type {unknown} */ key) => JSON.stringify(key).replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
