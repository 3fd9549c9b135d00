// What runs in the Worker: the engine, and whatever the other side asks of it.
import '../entry/default.js';
import { serveWorker } from './serve.js';

serveWorker(/** @type {any} */ (self));
