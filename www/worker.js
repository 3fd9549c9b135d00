// What runs in the page's worker: the engine behind the classes of hudi-wasm/worker. The page says where the wasm is.

import '../js/entry/slim.js';
import { serveWorker } from '../js/worker/serve.js';

serveWorker(/** @type {any} */ (self));
