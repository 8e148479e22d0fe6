import { migrate } from '../../../src/platform/database/schema/migrate';
import { type HashKey } from '../../../src/search-index/extract/half-siphash';
import { RowHashes } from '../../../src/search-index/extract/row-hashes';
import { READ_HASH_KEY } from '../../../src/search-index/read-row-hashes';
import { type ChartEntry } from '../../chart/chart-generator';
import { connect, databaseUrlOf } from '../own-database';
import { chartsOf, fillCharts } from './fill-charts';

/**
 * The URL of a database with `size` resources on the cluster at `clusterUrl`. If there is none, one is filled and
 * renamed when it is complete, so that an interrupted fill starts again.
 */
export async function openScaleDatabase(clusterUrl: string, size: number): Promise<string> {
  const [name, unfinished] = [`scale_${size}`, `scale_${size}_unfinished`];
  const cluster = await connect(clusterUrl);
  try {
    const { rowCount } = await cluster.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      await cluster.query(`drop database if exists ${unfinished}`);
      await cluster.query(`create database ${unfinished}`);
      await fillDatabase(databaseUrlOf(clusterUrl, unfinished), size, chartsOf(size));
      await cluster.query(`alter database ${unfinished} rename to ${name}`);
      await cluster.query('checkpoint');
    }
  } finally {
    await cluster.end();
  }
  return databaseUrlOf(clusterUrl, name);
}

/** Migrates an empty database and stores `size` resources. */
export async function fillDatabase(url: string, size: number, entries: Iterable<ChartEntry>): Promise<void> {
  await migrate(url);
  const client = await connect(url);
  try {
    await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'`);
    const [key] = (await client.query<HashKey>(READ_HASH_KEY.text)).rows;
    if (key === undefined) throw new Error('The database has no key of its search rows');
    await fillCharts(client, new RowHashes(key), size, entries);
  } finally {
    await client.end();
  }
}
