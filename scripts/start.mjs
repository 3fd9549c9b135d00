// Sets up, builds, and serves the explorer page at a printed address: `npm start`. PORT chooses the port.
import { build } from './build.mjs';
import { serve } from './lib/serve.mjs';
import { setup } from './setup.mjs';

/** The usual port, or any free one when it is taken. */
async function listen(/** @type {string} */ folder) {
  const port = Number(process.env.PORT ?? 8080);
  try {
    return await serve(folder, { port });
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!taken || process.env.PORT !== undefined) throw error;
    return serve(folder);
  }
}

try {
  await setup({ tests: false });
  await build();
  // Only now are esbuild and the other packages sure to be there.
  const { buildPage, page } = await import('./page.mjs');
  await buildPage();
  const { origin } = await listen(page);
  console.log(`The explorer is at ${origin}/ (Ctrl-C ends it)`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
