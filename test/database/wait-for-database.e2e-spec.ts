import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForDatabase } from '../../src/platform/database/schema/wait-for-database';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { databaseUrl } from '../../testing/databases';
import { TcpProxy } from '../support/tcp-proxy';

describe('O5: a database at the start of the server', () => {
  let database: ClonedDatabase;

  beforeAll(async () => {
    database = await cloneDatabase('new');
  });
  afterAll(() => database.drop());

  /** Returns the logged lines. */
  async function wait(url: string, seconds = 30): Promise<string[]> {
    const logged: string[] = [];
    await waitForDatabase(url, seconds, (line) => logged.push(line));
    return logged;
  }

  it('delays the start until it accepts connections, and one line is logged', async () => {
    const early = await TcpProxy.start(database.url);
    const { url } = early;
    await early.stop();
    let isUp = false;
    const waiting = wait(url).then((logged) => [isUp, logged]);
    await delay(1_500);
    isUp = true;
    const proxy = await TcpProxy.start(database.url, Number(new URL(url).port));
    expect(await waiting).toEqual([true, ['The database takes no connections yet. Trying again for 30 s.']]);
    await proxy.stop();
  });

  it.each([
    ['that accepts connections', () => database.url],
    ['that does not exist', () => databaseUrl(database.url, 'svc_no_such_database')],
    ['whose URL cannot be parsed', () => 'postgresql://x@localhost:x/none'],
  ])('does not delay the start if it is one %s', async (_which, urlOf) => {
    expect(await wait(urlOf())).toEqual([]);
  });
});
