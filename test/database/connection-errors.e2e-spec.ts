import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { poolOf } from '../../src/platform/database/connection-slots';
import { CounterDatabase } from '../support/counter-database';

describe('a connection of the pool', () => {
  let database: CounterDatabase;

  beforeAll(async () => {
    database = await CounterDatabase.open();
  });
  afterAll(() => database.close());

  it('has an error listener when the pool hands it out, since PostgreSQL may terminate it at any time', async () => {
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
