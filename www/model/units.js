// Numbers as the page writes them.

const grouped = new Intl.NumberFormat('en-US');

/** `1,204,311` @param {number} n */
export const count = (n) => grouped.format(n);

/** `1 slice`, `4 slices` @param {number} n @param {string} noun @param {string} [plural] */
export const counted = (n, noun, plural = `${noun}s`) => `${count(n)} ${n === 1 ? noun : plural}`;

/** `84.2 MB`; the exact bytes belong in a tooltip. @param {number} n */
export function bytes(n) {
  if (n < 1000) return `${count(n)} B`;
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} kB`;
  if (n < 1e9) return `${(n / 1e6).toFixed(1)} MB`;
  return `${(n / 1e9).toFixed(1)} GB`;
}

/** `83,281,002 bytes` @param {number} n */
export const exactBytes = (n) => counted(n, 'byte');

/** `412 ms`, `1.4 s` @param {number} ms */
export const duration = (ms) =>
  ms < 1000
    ? `${Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1000).toFixed(1)} s`
      : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

/** A long id with its middle left out. @param {string} text @param {number} [keep] */
export const middleCut = (text, keep = 20) => (text.length <= keep ? text : `${text.slice(0, keep - 4)}…${text.slice(-3)}`);

/** The last part of a path or address. @param {string} path */
export const lastPart = (path) => path.replace(/\/+$/, '').split('/').pop() ?? path;
