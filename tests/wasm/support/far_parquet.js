// A Parquet file whose second row group lies behind 5 GiB of nothing: a copy of its first, so every row is there twice.
// The footer is Thrift in its compact form; it is read without a schema, changed in the few fields that count, and written anew.

/** @typedef {{ type: number, value: any }} Value @typedef {Map<number, Value>} Struct */

class Reader {
  at = 0;

  constructor(/** @type {Buffer} */ bytes) {
    this.bytes = bytes;
  }

  byte() {
    return this.bytes.readUInt8(this.at++);
  }

  varint() {
    for (let [value, shift] = [0n, 0n]; ; shift += 7n) {
      const byte = BigInt(this.byte());
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  }

  /** @returns {any} */
  value(/** @type {number} */ type) {
    if (type === 1 || type === 2) return type === 1;
    if (type === 3) return this.byte();
    if (type === 4 || type === 5 || type === 6) return unzigzag(this.varint());
    if (type === 7) return this.take(8);
    if (type === 8) return this.take(Number(this.varint()));
    if (type === 9 || type === 10) return this.list();
    if (type === 12) return this.struct();
    throw new Error(`Thrift type ${type}`);
  }

  take(/** @type {number} */ length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  list() {
    const head = this.byte();
    const length = head >> 4 === 15 ? Number(this.varint()) : head >> 4;
    const type = head & 15;
    // A boolean in a list is a byte of its own.
    return { type, items: Array.from({ length }, () => (type === 1 || type === 2 ? this.byte() === 1 : this.value(type))) };
  }

  /** @returns {Struct} */
  struct() {
    const fields = new Map();
    for (let id = 0; ; ) {
      const head = this.byte();
      if (head === 0) return fields;
      id = head >> 4 === 0 ? Number(unzigzag(this.varint())) : id + (head >> 4);
      fields.set(id, { type: head & 15, value: this.value(head & 15) });
    }
  }
}

const unzigzag = (/** @type {bigint} */ n) => (n >> 1n) ^ -(n & 1n);

/** @returns {Buffer} */
function varint(/** @type {bigint} */ n) {
  const bytes = [];
  for (; n >= 0x80n; n >>= 7n) bytes.push(Number(n & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(n)]);
}

const zigzag = (/** @type {bigint} */ n) => varint(n >= 0n ? n << 1n : (-n << 1n) - 1n);

/** @returns {Buffer} */
function written(/** @type {Value} */ { type, value }) {
  if (type === 1 || type === 2) return Buffer.alloc(0);
  if (type === 3) return Buffer.from([value]);
  if (type === 4 || type === 5 || type === 6) return zigzag(value);
  if (type === 7) return value;
  if (type === 8) return Buffer.concat([varint(BigInt(value.length)), value]);
  if (type === 12) return struct(value);
  const { type: of, items } = value;
  const head = items.length < 15 ? Buffer.from([(items.length << 4) | of]) : Buffer.concat([Buffer.from([0xf0 | of]), varint(BigInt(items.length))]);
  return Buffer.concat([head, ...items.map((/** @type {any} */ item) => (of === 1 || of === 2 ? Buffer.from([item ? 1 : 2]) : written({ type: of, value: item })))]);
}

function struct(/** @type {Struct} */ fields) {
  const parts = [...fields].flatMap(([id, field]) => {
    // Every field names its number, which is always allowed.
    const type = field.type <= 2 ? (field.value ? 1 : 2) : field.type;
    return [Buffer.from([type]), zigzag(BigInt(id)), written({ ...field, type })];
  });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

const longer = (/** @type {Struct} */ fields, /** @type {number} */ id, /** @type {bigint} */ by) => {
  const field = fields.get(id);
  if (field !== undefined) field.value += by;
};

/** A row group with its column chunks so many bytes later, and without page indexes, whose offsets stand elsewhere. */
function shifted(/** @type {Struct} */ group, /** @type {bigint} */ by) {
  const copy = new Reader(struct(group)).struct();
  longer(copy, 5, by);
  for (const chunk of copy.get(1)?.value.items ?? []) {
    longer(chunk, 2, by);
    for (const id of [4, 5, 6, 7]) chunk.delete(id);
    for (const id of [9, 10, 11]) longer(chunk.get(3).value, id, by);
    for (const id of [14, 15]) chunk.get(3).value.delete(id);
  }
  return copy;
}

/** The parts of a file: what stands before its footer, the footer, and its end made anew. @param {Buffer} file */
function opened(file) {
  const length = file.readUInt32LE(file.length - 8);
  const data = file.subarray(0, file.length - 8 - length);
  const footer = new Reader(file.subarray(data.length, data.length + length)).struct();
  const end = () => {
    const made = struct(footer);
    const trailer = Buffer.alloc(8, 'PAR1');
    trailer.writeUInt32LE(made.length);
    return Buffer.concat([made, trailer]);
  };
  return { data, groups: footer.get(4)?.value, footer, end };
}

/**
 * A file whose row groups all are its first one, at the very same place: as many rows as one likes out of few bytes.
 *
 * @param {Buffer} file
 * @param {number} times
 */
export function repeatedParquet(file, times) {
  const { data, groups, footer, end } = opened(file);
  const group = shifted(groups.items[0], 0n);
  groups.items = Array.from({ length: times }, () => group);
  longer(footer, 3, BigInt(times) * group.get(3)?.value - footer.get(3)?.value);
  return { file: Buffer.concat([data, end()]), rows: times * Number(group.get(3)?.value), bytes: times * Number(group.get(2)?.value) };
}

/**
 * The file as a function of ranges.
 *
 * @param {Buffer} file a Parquet file of one row group
 * @param {number} gap bytes of nothing in the middle
 * @returns {{ size: number, read: (start: number, end: number) => Buffer }}
 */
export function farParquet(file, gap) {
  const { data, groups, footer, end } = opened(file);
  const [group] = groups.items;
  const far = data.length + gap;
  groups.items = [shifted(group, 0n), shifted(group, BigInt(far))];
  longer(footer, 3, footer.get(3)?.value);
  const tail = Buffer.concat([data, end()]);
  return {
    size: far + tail.length,
    read(start, stop) {
      const parts = [
        { from: 0, bytes: data },
        { from: far, bytes: tail },
      ];
      const out = Buffer.alloc(stop - start);
      for (const { from, bytes } of parts) {
        const [first, last] = [Math.max(start, from), Math.min(stop, from + bytes.length)];
        if (first < last) bytes.copy(out, first - start, first - from, last - from);
      }
      return out;
    },
  };
}
