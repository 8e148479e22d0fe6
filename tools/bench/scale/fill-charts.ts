import { type Client } from 'pg';
import { localKey } from '../../../src/fhir/reference';
import { type Resource } from '../../../src/fhir/types';
import { extractorsBy } from '../../../src/search-index/extract/extractor';
import { atOnce } from '../../../src/platform/time/steps';
import { type RowHashes } from '../../../src/search-index/extract/row-hashes';
import { SearchParameterSet } from '../../../src/search-index/extract/search-parameter-set';
import { type ChartEntry, generateChart } from '../../chart/chart-generator';
import { ProgressBar } from '../../progress-bar';
import { RowBatch } from './row-batch';

/** The number of resources of a chart, about as many as in a Synthea chart. */
const CHART_SIZE = 767;
const BATCH = 1_000;

/**
 * Stores `size` resources from `entries`, with the search index rows that the server would derive. Indexes are dropped
 * meanwhile: building them at the end costs a fraction.
 */
export async function fillCharts(
  client: Client,
  hashes: RowHashes,
  size: number,
  entries: Iterable<ChartEntry>,
): Promise<void> {
  const indexes = await dropIndexes(client);
  const extractorOf = extractorsBy(new SearchParameterSet(), hashes, '');
  const progress = new ProgressBar({ label: 'fill'.padEnd(20), total: size });
  const firstSecond = Math.floor(Date.now() / 1000) - size;
  let batch = new RowBatch();
  let sending: Promise<unknown> = Promise.resolve();
  let key = 0;
  for (const { resourceType: type, id, body } of entries) {
    key += 1;
    const rows = atOnce(extractorOf(type)(JSON.parse(body) as Resource));
    const updatedAt = (firstSecond + key) * 1000;
    batch.add({ key, type, id, body, updatedAt, referenceHash: hashes.ofTarget(localKey(type, id)), rows });
    progress.advance();
    if (key % BATCH !== 0 && key !== size) continue;
    await sending;
    // The batch is sent while the next one is prepared.
    sending = batch.send(client);
    batch = new RowBatch();
  }
  await sending;
  const building = new ProgressBar({ label: 'build indexes'.padEnd(20), total: indexes.length });
  for (const definition of indexes) {
    await client.query(definition);
    building.advance();
  }
  // The server assigns its next keys after those of the stored resources.
  await client.query(`select setval('resource_key_sequence', $1)`, [Math.ceil(size / 1000) * 1000 + 1]);
  await client.query('vacuum analyze');
}

/** Charts of Synthea's size, `size` resources in all. */
export function* chartsOf(size: number): Generator<ChartEntry> {
  let made = 0;
  for (let seed = 1; made < size; seed++) {
    for (const entry of generateChart({ seed, size: Math.min(CHART_SIZE, size - made) }).entries) {
      made += 1;
      yield entry;
    }
  }
}

async function dropIndexes(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where not indisunique and indrelid = any('{resource,search_token,reference_link,search_date,search_number,search_string}'::regclass[])`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}
