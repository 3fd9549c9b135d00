// Decimals in the images of a change query. Spark writes them in an image of a data file by the getters of Java's BigDecimal, of
// which one begins with "is": `{"zero":false}`. No value can be had from that, so both sides keep no more than whether it is zero.

/** @typedef {import('./spark.js').Row} Row */

/** A whole value, so that what is not understood stays as it is and differs. */
const value = /("(d9|d18|d38)":)(\{"zero":(?:true|false)\}|-?\d[\d.eE+-]*)(?=[,}])/g;

/** Change rows whose images say of such decimals only whether they are zero. @param {Row[]} rows @returns {Row[]} */
export function withoutDecimals(rows) {
  return rows.map((row) => ({ ...row, before: image(row.before), after: image(row.after) }));
}

const image = (/** @type {unknown} */ text) => (typeof text === 'string' ? text.replace(value, (_, name, _column, said) => `${name}"${isZero(said) ? 'zero' : 'not zero'}"`) : text);

const isZero = (/** @type {string} */ said) => (said.startsWith('{') ? said.includes('true') : Number(said) === 0);
