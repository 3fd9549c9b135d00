// Our side: the packed package, installed in a folder of its own as a user's Node would see it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { pack } from '../../../scripts/pack.mjs';
import { rows } from '../../wasm/support/canonical.js';

/**
 * @typedef {import('./spark.js').Query} Query
 * @typedef {import('./spark.js').Row} Row
 * @typedef {typeof import('../../../js/index.js')} Package
 */

export class Ours {
  #package;
  #place;
  #options;

  /**
   * @param {Package} installed
   * @param {(table: string) => Promise<string>} [place] the URI of a table in a folder
   * @param {import('../../../js/index.d.ts').OpenOptions} [options] to open tables with
   */
  constructor(installed, place = async (table) => table, options = {}) {
    this.#package = installed;
    this.#place = place;
    this.#options = options;
  }

  /** The same package that finds tables by another way. @param {(table: string) => Promise<string>} place @param {import('../../../js/index.d.ts').OpenOptions} options */
  elsewhere(place, options) {
    return new Ours(this.#package, place, options);
  }

  /** Packs and installs below `folder`. */
  static async install(/** @type {string} */ folder) {
    await pack(folder);
    const entry = path.join(folder, 'main.js');
    await writeFile(entry, "export * from 'hudi-wasm';\n");
    return new Ours(await import(pathToFileURL(entry).href));
  }

  /**
   * The rows of a query over the table in a folder, or what the HudiError that refused it says. Any other error is thrown.
   *
   * @param {string} table
   * @param {Query} query
   * @returns {Promise<import('./compare.js').Answer>}
   */
  async read(table, query) {
    try {
      const handle = await this.#package.HudiTable.open(await this.#place(table), this.#options);
      try {
        const result = await handle.read(query);
        return { rows: /** @type {Row[]} */ (rows(tableFromIPC(result.ipc))) };
      } finally {
        handle.close();
      }
    } catch (error) {
      if (error instanceof this.#package.HudiError) return { code: error.code, message: error.message };
      throw error;
    }
  }

  /**
   * Makes a table in a folder.
   *
   * @param {string} table
   * @param {import('../../../js/index.d.ts').CreateOptions} options
   */
  async create(table, options) {
    const made = await this.#package.HudiTable.create(await this.#place(table), { ...this.#options, ...options });
    made.close();
  }

  /**
   * Appends to the table in a folder, in a commit of its own; gives the handle's result.
   *
   * @param {string} table
   * @param {import('../../../js/index.d.ts').ArrowInput} input
   * @param {import('../../../js/index.d.ts').WriteOptions} [options]
   */
  async append(table, input, options) {
    const handle = await this.#package.HudiTable.open(await this.#place(table), this.#options);
    try {
      const result = await handle.append(input, options);
      result.table.close();
      return result;
    } finally {
      handle.close();
    }
  }

  /** Takes the newest write of the table in a folder back. @param {string} table @param {string} instant */
  async rollback(table, instant) {
    const handle = await this.#package.HudiTable.open(await this.#place(table), this.#options);
    try {
      return await handle.rollback(instant);
    } finally {
      handle.close();
    }
  }

  /** The batches of a query, as they came. @param {string} table @param {Query} query */
  async batches(table, query) {
    const handle = await this.#package.HudiTable.open(await this.#place(table), this.#options);
    try {
      return { ipc: (await handle.read(query)).ipc, schema: (await handle.getSchema()).ipc };
    } finally {
      handle.close();
    }
  }

  /** Overwrites a file of a table through our store, as a writer of ours does. @param {string} table @param {string} file @param {Uint8Array} data */
  async overwrite(table, file, data) {
    await this.#store(table).put?.(file, data, {});
  }

  /** @param {string} table @param {string} file */
  async remove(table, file) {
    await this.#store(table).delete?.([file]);
  }

  /** @param {string} table */
  #store(table) {
    return this.#package.createObjectStore(table, { type: 'file' });
  }
}
