// The classes of the package over an engine in a Worker of its own: pages stay quick while it decodes.
import { dispose } from '../dispose.js';
import { HudiFileGroupReader } from '../file_group_reader.js';
import { Handle } from '../handle.js';
import { shown } from '../open.js';
import { HudiReadOptions, checkKeys, createOptions, openOptions } from '../options.js';
import { HudiTable } from '../table.js';
import { RemoteEngine } from './remote.js';

/** @type {() => Worker} This very form is what bundlers look for; the path holds from dist/entry/ too. */
const usual = () => new Worker(new URL('../../js/worker/main.js', import.meta.url), { type: 'module', name: 'hudi-wasm' });

/** @type {typeof import('./index.d.ts').createHudiWorker} */
export function createHudiWorker(given = {}) {
  checkKeys(given, ['worker', 'module'], 'worker option');
  const { worker: start = usual, module } = given;
  /** @type {RemoteEngine | undefined} */
  let live;
  const engine = () => {
    if (live === undefined || live.dead) live = new RemoteEngine(start(), module);
    return live;
  };
  /** @param {'open' | 'create'} how @param {string | URL} uri @param {import('../index.d.ts').OpenOptions} options @param {import('../index.d.ts').OpenOptions} checked */
  const handle = async (how, uri, options, { onRequest, onProgress, signal }) => {
    const remote = engine();
    const sent = { ...options, signal: undefined, onProgress: undefined, onRequest: undefined };
    const raw = await remote.open(how, String(uri), sent, { ...(signal && { signal }), ...(onProgress && { onProgress }), ...(onRequest && { onRequest }) });
    return new Handle(/** @type {any} */ (remote), raw, onRequest);
  };
  // The worker checks the storage, this side the rest: a mistake is told the same way in both.
  const open = async (/** @type {string | URL} */ uri, /** @type {import('../index.d.ts').OpenOptions} */ options = {}) => handle('open', uri, options, openOptions(options));
  const create = async (/** @type {string | URL} */ uri, /** @type {import('../index.d.ts').CreateOptions} */ options) => handle('create', uri, options, createOptions(options));
  const terminate = () => {
    live?.end('the worker was terminated');
    live = undefined;
  };
  return {
    HudiTable: {
      open: async (uri, options) => new HudiTable(await open(uri, options), shown(options?.storage ?? {})),
      create: async (uri, options) => new HudiTable(await create(uri, options), shown(options?.storage ?? {})),
    },
    HudiFileGroupReader: { open: async (uri, options) => new HudiFileGroupReader(await open(uri, options), String(uri), new HudiReadOptions(), true) },
    terminate,
    [dispose]: terminate,
  };
}
