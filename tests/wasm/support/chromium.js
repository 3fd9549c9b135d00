// Chromium as the browser tests start it, and a server for the pages it opens.
import { chromium } from 'playwright-core';
import { browser } from '../../../scripts/lib/run.mjs';
import { serve } from '../../../scripts/lib/serve.mjs';

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export async function launch() {
  return chromium.launch({ executablePath: (await browser()).chromium, headless: true, args });
}

/**
 * Opens a page on a served folder, hands it to `use`, and ends browser and server whatever happens.
 *
 * @template T
 * @param {string} folder
 * @param {(page: import('playwright-core').Page, origin: string) => Promise<T>} use
 */
export async function withPage(folder, use) {
  const server = await serve(folder);
  const started = await launch();
  try {
    return await use(await started.newPage(), server.origin);
  } finally {
    await started.close();
    await server.close();
  }
}
