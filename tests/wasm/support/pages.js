// A page of Chromium that holds the package, and asks it what Spark was asked.
import { withPage } from './chromium.js';

/** @typedef {{ code: string, message: string, hint: string, retryable: boolean, status: number | undefined, context: Record<string, string> }} Told */

/** The package in a page. Of the storage options, `sign` may name a function of the page. */
export class PackagePage {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /**
   * `faultsOf` in the page.
   *
   * @param {string} uri
   * @param {any} options
   * @param {import('./fixtures.js').Recorded[]} queries
   * @returns {Promise<string[]>}
   */
  faults(uri, options, queries) {
    return this.page.evaluate(
      async ([uri, options, queries]) => {
        const { faultsOf } = await import(/** @type {string} */ ('/tests/wasm/support/ask.js'));
        const { storage } = options;
        if (typeof storage?.sign === 'string') storage.sign = /** @type {any} */ (window)[storage.sign];
        return faultsOf(/** @type {any} */ (window).hudi, uri, options, queries);
      },
      /** @type {const} */ ([uri, options, queries]),
    );
  }

  /**
   * What opening a table, and reading it, fails with.
   *
   * @param {string} uri
   * @param {any} options
   * @returns {Promise<Told>}
   */
  openError(uri, options) {
    return this.page.evaluate(
      async ([uri, options]) => {
        const { HudiTable } = /** @type {any} */ (window).hudi;
        try {
          await (await HudiTable.open(uri, options)).read();
        } catch (error) {
          const { code, message, hint, retryable, status, context } = /** @type {any} */ (error);
          return { code, message, hint, retryable, status, context };
        }
        throw new Error('the table was read');
      },
      /** @type {const} */ ([uri, options]),
    );
  }
}

/**
 * Opens a blank page of `folder` with the package as `window.hudi`.
 *
 * @template T
 * @param {string} folder the repository's root
 * @param {(page: PackagePage, origin: string) => Promise<T>} use
 */
export function withPackage(folder, use) {
  return withPage(folder, async (page, origin) => {
    await page.goto(`${origin}/tests/wasm/support/blank.html`);
    await page.evaluate(async () => {
      /** @type {any} */ (window).hudi = await import(/** @type {string} */ ('hudi-wasm'));
    });
    return use(new PackagePage(page), origin);
  });
}
