/**
 * What happens to wasm-bindgen's JavaScript before it is shipped.
 *
 * @param {string} source the glue of `--target web --omit-default-module-path`
 * @returns {string}
 */
export function finishGlue(source) {
  return source;
}
