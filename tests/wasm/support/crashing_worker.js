// The package's worker, which also crashes when it is told to.
// @ts-ignore: packing makes it.
import '../../out/packed/node_modules/hudi-wasm/js/worker/main.js';

addEventListener('message', ({ data }) => {
  if (data.crash) throw new Error('crashed on request');
});
