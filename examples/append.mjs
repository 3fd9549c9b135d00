// Makes a Hudi table in Node, appends rows in two commits and reads them back: `node examples/append.mjs [folder]`. Without one, in a temporary folder.
import { tableFromIPC } from 'apache-arrow';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { HudiTable } from 'hudi-wasm';

const folder = process.argv[2] ?? path.join(await mkdtemp(path.join(tmpdir(), 'hudi-')), 'trips');
const schema = JSON.stringify({
  type: 'record',
  name: 'trip',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'city', type: ['null', 'string'], default: null },
    { name: 'fare', type: ['null', 'double'], default: null },
  ],
});

const table = await HudiTable.create(folder, { tableName: 'trips', schema, recordKeyFields: ['id'], partitionFields: ['city'], hiveStylePartitioning: true });
const first = await table.append({ rows: [{ id: 1, city: 'Oslo', fare: 12.5 }, { id: 2, city: 'Rome', fare: 7 }] });
const second = await first.table.append({ rows: [{ id: 3, city: 'Oslo', fare: null }] });

const { ipc } = await second.table.read({ projection: ['id', 'city', 'fare'] });
console.log(`${folder}: instants ${first.instant} and ${second.instant}`);
console.table(tableFromIPC(ipc).toArray().map((row) => ({ ...row.toJSON() })));
