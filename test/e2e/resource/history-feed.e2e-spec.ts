import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { declareRestore } from '../../../tools/after-restore/declare-restore';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { type Bundle } from '../../support/bundle';
import { eventually } from '../../../testing/eventually';
import { startTestApp, type TestApp } from '../../../testing/test-app';

interface Entry {
  readonly fullUrl: string;
}
type History = Bundle<Entry>;

const BOOKMARK = /^(\d{1,20})-([0-9A-F]{8})-(\d{1,10})-(\d{1,18})$/;

describe('D4: the feed of changes (_txid)', () => {
  let app: TestApp;
  let client: Client;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
  });
  afterAll(() => app.close());

  const put = (id: string): Promise<unknown> => app.put(`/Basic/${id}`, { code: { text: id } });
  const idsOf = ({ entry }: History): string[] => entry.map(({ fullUrl }) => fullUrl.split('/').at(-1) ?? '');
  const bookmarkOf = ({ link }: History): string =>
    new URL(link.find(({ relation }) => relation === 'monitor')?.url ?? '').searchParams.get('_txid') ?? '';
  const feed = async (from: string, path = '/Basic/_history'): Promise<History> => {
    const answer = await app.get(`${path}?_txid=${from}`);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json<History>();
  };
  /** Inserts a version like a server whose clock is wrong. */
  const insertAt = (id: string, offset: string): Promise<unknown> =>
    client.query(
      `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       values (-(select count(*) from resource) - 1, now(), now() + $2::interval, -1, 1, 'Basic', $1, 'POST', $3)`,
      [id, offset, JSON.stringify({ resourceType: 'Basic', id })],
    );

  it.each(['/_history', '/fhir/Basic/_history', '/Basic/known/_history'])(
    'D4: a bookmark from %s names the cluster, its timeline and the database',
    async (path) => {
      await put('known');
      const [, system, timeline, database] = BOOKMARK.exec(bookmarkOf(await feed('0', path))) ?? [];
      const { rows } = await client.query(
        `select system_identifier::text as system, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline,
           (select oid::text from pg_database where datname = current_database()) as database from pg_control_system()`,
      );
      expect([{ system, timeline, database }]).toEqual(rows);
    },
  );

  it.each(['-3 days', '3 days'])(
    'D4: a version from a server whose clock is off by %s is returned as new',
    async (offset) => {
      await put('now');
      const bookmark = bookmarkOf(await feed('0'));
      const id = `clock${offset.replace(/\W/g, '-')}`;
      await insertAt(id, offset);
      expect(idsOf(await feed(bookmark))).toContain(id);
      expect(idsOf(await feed(bookmark, `/Basic/${id}/_history`))).toEqual([id]);
    },
  );

  it('D4: a bookmark names a transaction that wrote, since ids of others can be reused after a crash', async () => {
    await put('written');
    const { rows } = await client.query<{ id: string }>(
      `select transaction_id::text as id from resource where type = 'Basic' and id = 'written'`,
    );
    // A transaction of any other database in the cluster delays the bookmark.
    const bookmark = await eventually('the write is below all that run', async () => {
      const found = bookmarkOf(await feed('0'));
      return BOOKMARK.exec(found)?.[4] === rows[0]?.id && found;
    });
    for (let count = 0; count < 3; count++) {
      await client.query('begin');
      await insertAt('undone', '0');
      await client.query('rollback');
    }
    expect(bookmarkOf(await feed(bookmark))).toBe(bookmark);
  });

  describe('D4: is refused with 410 and the advice to start again', () => {
    const refused = async (bookmark: string, of = app): Promise<void> => {
      for (const path of ['/_history', '/fhir/Basic/_history', '/Basic/known/_history']) {
        const answer = await of.get(`${path}?_txid=${bookmark}`);
        expect([answer.status, answer.text.slice(0, 400)]).toEqual([410, expect.stringContaining('_txid=0')]);
      }
    };

    it.each([
      ['of another cluster', 1, '7438000000000000001'],
      ['of another timeline', 2, '0000002A'],
      ['of another database', 3, '1'],
      ['of a later point in time', 4, '999999999999999999'],
    ])('for a bookmark %s', async (_of, part, value) => {
      const parts = BOOKMARK.exec(bookmarkOf(await feed('0'))) ?? [];
      await refused(
        parts
          .map((text, index) => (index === part ? value : text))
          .slice(1)
          .join('-'),
      );
    });

    it('for a bookmark from before a restore that the operator declared, such as one of a disk image', async () => {
      const restored = await startTestApp();
      try {
        await restored.put('/Basic/known', { code: { text: 'stored' } });
        const bookmarks: string[] = [];
        for (let restores = 0; restores < 3; restores++) {
          for (const bookmark of bookmarks) await refused(bookmark, restored);
          bookmarks.push(bookmarkOf((await restored.get('/Basic/_history?_txid=0')).json()));
          const { status } = await restored.get(`/Basic/_history?_txid=${bookmarks.at(-1)}`);
          expect(status).toBe(200);
          await declareRestore(restored.databaseUrl);
        }
      } finally {
        await restored.close();
      }
    }, 60_000);

    it('for a number only, as version 0.1.0 returned, since the cluster is unknown', () => refused('1234'));

    it('for a bookmark of a database that was restored into another cluster', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'feed-'));
      const cluster = await startEmbeddedPostgres({ dataDirectory: folder, isDurable: false });
      try {
        await migrate(cluster.url);
        const copy = await startTestApp({ databaseUrl: cluster.url });
        try {
          await copy.put('/Basic/known', { code: { text: 'restored' } });
          await refused(bookmarkOf(await feed('0')), copy);
          expect(idsOf((await copy.get('/Basic/_history?_txid=0')).json())).toEqual(['known']);
        } finally {
          await copy.close();
        }
      } finally {
        await cluster.stop();
        rmSync(folder, { recursive: true });
      }
    }, 120_000);
  });

  it.each(['1-2-3', 'x-00000001-1-1', '1-00000001-1-1-1', '1-00000001-1-'])(
    'D4: an invalid bookmark is refused with 400: %s',
    async (text) => {
      const answer = await app.get(`/Basic/_history?_txid=${text}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('monitor')]);
    },
  );
});
