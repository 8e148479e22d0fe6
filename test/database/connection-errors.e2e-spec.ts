import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { poolOf } from '../../src/platform/database/connection-slots';
import { CounterDatabase } from '../support/counter-database';

describe('a connection that breaks', () => {
  let database: CounterDatabase;

  beforeAll(async () => {
    database = await CounterDatabase.open();
  });
  afterAll(() => database.close());

  it('is heard from the moment that it is handed out: a message of its end may come in the bytes that connect', async () => {
    const handedOut = (): Promise<[PoolClient, number]> =>
      new Promise((resolve, reject) => {
        poolOf(database.dataSource).connect((error, client) => {
          if (client === undefined) reject(error ?? new Error('No connection'));
          else resolve([client, client.listenerCount('error')]);
        });
      });
    // The pool has one idle connection. It hands out that connection first, and then a new one.
    const given = [await handedOut(), await handedOut()];
    for (const [client] of given) client.release();
    expect(given.map(([, listeners]) => listeners > 0)).toEqual([true, true]);
  });
});
