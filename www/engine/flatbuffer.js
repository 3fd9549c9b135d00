// Just enough of FlatBuffers to read Arrow's message headers: a table is a position whose fields are found through its vtable.

export class Table {
  /** @param {DataView} view @param {number} at */
  constructor(view, at) {
    this.view = view;
    this.at = at;
    this.vtable = at - view.getInt32(at, true);
    this.vtableSize = view.getUint16(this.vtable, true);
  }

  /** @param {DataView} view the whole buffer */
  static root(view) {
    return new Table(view, view.getUint32(0, true));
  }

  /** Position of field `index`, or 0 when it is absent. @param {number} index */
  place(index) {
    const slot = 4 + 2 * index;
    const offset = slot < this.vtableSize ? this.view.getUint16(this.vtable + slot, true) : 0;
    return offset === 0 ? 0 : this.at + offset;
  }

  /** @param {number} index @param {number} [absent] */
  int8(index, absent = 0) {
    const at = this.place(index);
    return at === 0 ? absent : this.view.getInt8(at);
  }

  /** @param {number} index @param {number} [absent] */
  int16(index, absent = 0) {
    const at = this.place(index);
    return at === 0 ? absent : this.view.getInt16(at, true);
  }

  /** @param {number} index @param {number} [absent] */
  int32(index, absent = 0) {
    const at = this.place(index);
    return at === 0 ? absent : this.view.getInt32(at, true);
  }

  /** @param {number} index */
  int64(index) {
    const at = this.place(index);
    return at === 0 ? 0 : Number(this.view.getBigInt64(at, true));
  }

  /** @param {number} index */
  string(index) {
    const at = this.place(index);
    if (at === 0) return undefined;
    const start = at + this.view.getUint32(at, true);
    const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + start + 4, this.view.getUint32(start, true));
    return new TextDecoder().decode(bytes);
  }

  /** @param {number} index */
  table(index) {
    const at = this.place(index);
    return at === 0 ? undefined : new Table(this.view, at + this.view.getUint32(at, true));
  }

  /** First element's position and the count of a vector. @param {number} index */
  vector(index) {
    const at = this.place(index);
    if (at === 0) return { start: 0, length: 0 };
    const start = at + this.view.getUint32(at, true);
    return { start: start + 4, length: this.view.getUint32(start, true) };
  }

  /** @param {number} index @returns {Table[]} */
  tables(index) {
    const { start, length } = this.vector(index);
    return Array.from({ length }, (_, i) => {
      const at = start + 4 * i;
      return new Table(this.view, at + this.view.getUint32(at, true));
    });
  }
}
