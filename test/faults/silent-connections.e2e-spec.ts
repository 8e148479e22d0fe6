import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source-options';
import { cloneDatabase } from '../../testing/test-databases';
import { TcpProxy } from '../support/tcp-proxy';
import { startTestApp } from '../../testing/test-app';

/**
 * The limit of the recovery from a silent connection: 5 s until the check, at most 1 s for it, then a new connection.
 */
const RECOVERY_MILLISECONDS = 15_000;

/** The tests mostly wait, so they run concurrently, each with a separate database. */
describe('O1: connections to PostgreSQL that become silent and stay open', () => {
  it.concurrent.each([
    ['many', 30],
    ['one', 1],
  ])('are replaced within 15 s, with %s concurrent requests', async (_many, count) => {
    const database = await cloneDatabase('started');
    const proxy = await TcpProxy.start(database.url);
    const app = await startTestApp({ databaseUrl: proxy.url });
    const status = async (): Promise<number> => (await app.get('/Patient/p')).status;
    const statuses = (requests: number): Promise<number[]> => Promise.all(Array.from({ length: requests }, status));
    try {
      await app.put('/Patient/p', { resourceType: 'Patient', id: 'p' });
      await statuses(30); // all connections of the pool are open
      proxy.fallSilent();
      const startedAt = performance.now();
      const first = await statuses(count);
      expect(first.filter((one) => one !== 200 && one !== 503)).toEqual([]);
      while ((await status()) !== 200) expect(performance.now() - startedAt).toBeLessThan(RECOVERY_MILLISECONDS);
      expect(performance.now() - startedAt).toBeLessThan(RECOVERY_MILLISECONDS);
      expect(new Set(await statuses(30))).toEqual(new Set([200]));
    } finally {
      await app.close();
      await proxy.stop();
      await database.drop();
    }
  });
});

describe('O1: connections to PostgreSQL that are silent for a good reason', () => {
  /** Statements that rightly take long, and a transaction that rests, for longer than the limit of silence. */
  async function takeLong(databaseUrl: string): Promise<void> {
    const source = await new DataSource(dataSourceOptions(databaseUrl)).initialize();
    try {
      const resting = source.transaction(async (manager) => {
        await manager.query('select 1');
        await delay(8_000);
        return manager.query<unknown>('select 2 as two');
      });
      const slow = source.query<unknown>('select 1 as one from pg_sleep(8)');
      expect(await Promise.all([resting, slow])).toEqual([[{ two: 2 }], [{ one: 1 }]]);
    } finally {
      await source.destroy();
    }
  }

  /** A statement whose result is larger than the buffers in between, so the backend waits until the client reads. */
  async function loseResult(databaseUrl: string): Promise<void> {
    const proxy = await TcpProxy.start(databaseUrl);
    const source = await new DataSource(dataSourceOptions(proxy.url)).initialize();
    try {
      const large = source.query(`select repeat('x', 1000) as pad from generate_series(1, 100000)`);
      proxy.fallSilent();
      await expect(large).rejects.toThrow('PostgreSQL went silent');
    } finally {
      await source.destroy();
      await proxy.stop();
    }
  }

  it.concurrent(
    'are kept during long statements and idle transactions, unless the backend waits for its client',
    async () => {
      const database = await cloneDatabase('new');
      try {
        await Promise.all([takeLong(database.url), loseResult(database.url)]);
      } finally {
        await database.drop();
      }
    },
  );
});
