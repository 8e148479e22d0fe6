import { type Client } from 'pg';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { READ_HASH_KEY } from '../../../src/search-index/database-hash-key';
import { type HashKey } from '../../../src/search-index/extract/half-siphash';
import { useHashKey } from '../../../src/search-index/extract/hash';
import { type ChartEntry } from '../../chart/chart-generator';
import { connect, databaseUrlOf } from '../own-database';
import { chartsOf, fillCharts } from './fill-charts';

/**
 * The URL of a database with `size` resources on the cluster at `clusterUrl`; filled when it is not there yet. It gets its
 * name when it is full, so that an interrupted fill is begun anew.
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
  const url = databaseUrlOf(clusterUrl, name);
  const database = await connect(url);
  try {
    await loadHashKey(database);
  } finally {
    await database.end();
  }
  return url;
}

/** Hashes as the rows of the database are hashed. */
async function loadHashKey(database: Client): Promise<void> {
  (await database.query<HashKey>(READ_HASH_KEY.text)).rows.forEach(useHashKey);
}

/** Migrates an empty database and stores `size` resources. */
export async function fillDatabase(url: string, size: number, entries: Iterable<ChartEntry>): Promise<void> {
  await migrate(url);
  const client = await connect(url);
  try {
    await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'`);
    // One process hashes under one key: the databases of all sizes have the same.
    await client.query('update search_hash_key set low = 1, high = 2');
    await loadHashKey(client);
    await fillCharts(client, size, entries);
  } finally {
    await client.end();
  }
}
