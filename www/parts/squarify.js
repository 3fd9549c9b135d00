// Areas in proportion to sizes, as near to squares as rows of blocks allow (Bruls, Huizing, van Wijk: Squarified Treemaps).

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */

/**
 * @param {readonly number[]} sizes in falling order, above zero @param {number} width @param {number} height
 * @returns {Box[]} one for each size, together the whole area
 */
export function squarify(sizes, width, height) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const areas = sizes.map((size) => (size / total) * width * height);
  /** @type {Box[]} */
  const boxes = [];
  let free = { left: 0, top: 0, width, height };
  for (let from = 0; from < areas.length;) {
    const side = Math.min(free.width, free.height);
    const row = [areas[from] ?? 0];
    while (from + row.length < areas.length) {
      const longer = [...row, areas[from + row.length] ?? 0];
      if (worst(longer, side) > worst(row, side)) break;
      row.push(longer.at(-1) ?? 0);
    }
    free = place(row, free, boxes);
    from += row.length;
  }
  return boxes;
}

/** The most stretched block of a row along `side`. @param {readonly number[]} row @param {number} side */
function worst(row, side) {
  const sum = row.reduce((total, area) => total + area, 0);
  const [most, least] = [Math.max(...row), Math.min(...row)];
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Lays a row along the shorter side and gives what stays free. @param {readonly number[]} row @param {Box} free @param {Box[]} boxes @returns {Box} */
function place(row, free, boxes) {
  const sum = row.reduce((total, area) => total + area, 0);
  const standing = free.width >= free.height;
  const depth = sum / (standing ? free.height : free.width);
  let { left, top } = free;
  for (const area of row) {
    const along = area / depth;
    boxes.push(standing ? { left, top, width: depth, height: along } : { left, top, width: along, height: depth });
    if (standing) top += along;
    else left += along;
  }
  return standing
    ? { left: free.left + depth, top: free.top, width: free.width - depth, height: free.height }
    : { left: free.left, top: free.top + depth, width: free.width, height: free.height - depth };
}
