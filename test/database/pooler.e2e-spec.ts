import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source-options';
import { poolingOf } from '../../src/platform/database/pooler';
import { migrate } from '../../src/platform/database/schema/migrate';
import { Snapshots } from '../../src/platform/database/snapshots';
import { Statements } from '../../src/platform/database/statements';
import { TimeLimit } from '../../src/platform/database/time-limit';
import { UnitOfWork } from '../../src/platform/database/unit-of-work';
import { ServiceError } from '../../src/platform/errors/service-error';
import { eventually } from '../../testing/eventually';
import { ADMIN_PASSWORD, type TestApp, startTestApp } from '../../testing/test-app';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { TransactionPooler } from '../support/transaction-pooler';

const NAMES = ['svc.row_format', 'statement_timeout', 'lock_timeout', 'plan_cache_mode', 'enable_seqscan', 'timezone'];
const SHOWN = {
  name: 'spec-settings',
  text: `select ${NAMES.map((name) => `current_setting('${name}') as "${name}"`).join(', ')}, pg_backend_pid() as pid`,
};
type Shown = Readonly<Record<string, unknown>>;
const OURS = {
  'svc.row_format': '1',
  statement_timeout: '1min',
  lock_timeout: '5s',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  timezone: 'UTC',
};
const BACKENDS = 6;
const refusal = (): ServiceError => new ServiceError('timeout', 'The spec says so');

describe('O4: through a pooler in transaction mode', () => {
  let database: ClonedDatabase;
  let pooler: TransactionPooler;
  let app: TestApp;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    pooler = await TransactionPooler.start(database.url, { backends: BACKENDS });
    const environment = { SVC_DATABASE_DIRECT_URL: database.url };
    app = await startTestApp({ databaseUrl: pooler.url, environment });
  });
  afterAll(async () => {
    await app.close();
    await pooler.stop();
    await database.drop();
  });

  it('runs each statement with the settings of the server, and leaves none on a backend', async () => {
    const statements = app.provider(Statements);
    const alone = [await statements.run<Shown>(SHOWN, []), await statements.run<Shown>(SHOWN, [])].flat();
    expect(alone).toEqual([expect.objectContaining(OURS), expect.objectContaining(OURS)]);
    expect(alone[0]?.pid).not.toBe(alone[1]?.pid);
    const limit = new TimeLimit(7, 'The spec says so');
    const limited = await statements.within(limit, () => statements.runOne<Shown>(SHOWN, []));
    expect(limited).toMatchObject({ ...OURS, statement_timeout: limited?.statement_timeout });
    expect(limited?.statement_timeout).toMatch(/^(7|[56]\d{3})(ms|s)$/);
    const [inUnit, back] = await app.provider(UnitOfWork).run(async () => {
      await statements.within(limit, () => statements.runOne<Shown>(SHOWN, []));
      return [await statements.runOne<Shown>(SHOWN, []), await statements.runOne<Shown>(SHOWN, [])];
    });
    expect([inUnit, back]).toMatchObject([OURS, { ...OURS, pid: inUnit?.pid }]);
    const read = await app.provider(Snapshots).within({ seconds: 5, refusal }, async (snapshot) => {
      await snapshot.liftLimit();
      return snapshot.run(SHOWN, []);
    });
    expect(read).toMatchObject([OURS]);
    const found: unknown = await app.provider(DataSource).query(SHOWN.text);
    expect(found).toMatchObject([OURS]);
    const plain = new Client({ connectionString: pooler.url });
    await plain.connect();
    const kept = new Set<unknown>();
    for (let backend = 0; backend < BACKENDS; backend++) {
      const { rows } = await plain.query<{ scan: string }>(`select current_setting('enable_seqscan') as scan`);
      kept.add(rows[0]?.scan);
    }
    await plain.end();
    expect([...kept]).toEqual(['on']);
  });

  it('serves tokens, writes, searches, Bundles and $everything', async () => {
    const patient = { resourceType: 'Patient', id: 'p1', gender: 'female' };
    const bundle = (type: string): object => ({
      resourceType: 'Bundle',
      type,
      entry: [1, 2].map((n) => ({
        resource: { resourceType: 'Patient' },
        request: { method: 'PUT', url: `Patient/${type}-${n}` },
      })),
    });
    const login = { grant_type: 'password', username: 'admin', password: ADMIN_PASSWORD, client_id: 'ward' };
    const client = { grant_types: ['password'], auth: { password: { secret_required: false } } };
    const requests: readonly [string, string, object | undefined, number][] = [
      ['PUT', '/Client/ward', client, 201],
      ['POST', '/auth/token', login, 200],
      ['PUT', '/Patient/p1', patient, 201],
      ['GET', '/Patient?gender=female&_timeout=40', undefined, 200],
      ['POST', '/', bundle('transaction'), 200],
      ['POST', '/', bundle('batch'), 200],
      ['GET', '/Patient/p1/$everything', undefined, 200],
      ['DELETE', '/Patient/p1', undefined, 200],
    ];
    for (const [method, path, body, status] of requests) {
      const sent = { ...(body && { body }), ...(path === '/auth/token' && { authorization: null }) };
      expect([path, (await app.send(method, path, sent)).status]).toEqual([path, status]);
    }
  });

  it.each(['serializable', 'repeatable-read'])(
    'stores one resource for concurrent conditional creates at %s, and leaves no lock',
    async (level) => {
      const body = { resourceType: 'Basic', identifier: [{ value: level }], code: { text: 'race' } };
      const sent = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          app.send('POST', '/Basic', {
            body,
            headers: { 'If-None-Exist': `identifier=${level}`, ...(n % 3 < 2 && { 'x-max-isolation-level': level }) },
          }),
        ),
      );
      expect(sent.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(sent.filter(({ status }) => ![200, 201, 412].includes(status))).toEqual([]);
      const operator = await app.connect();
      // Background tasks hold locks for a moment; only a leaked lock stays.
      await eventually('no lock is left', async () => {
        const { rows } = await operator.query(
          `select l.objid from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and a.datname = current_database() and a.application_name <> 'svc-health-server delivery'`,
        );
        return rows.length === 0;
      });
    },
  );

  it('keeps a connection whose statement takes 7 s, since it finds the backend by the connection name', async () => {
    const source = new DataSource(
      dataSourceOptions(pooler.url, undefined, { pooling: 'transaction', directUrl: database.url }),
    );
    await source.initialize();
    expect(await source.query('select 1 as one from pg_sleep(7)')).toEqual([{ one: 1 }]);
    await source.destroy();
  }, 20_000);

  it('refuses to start without a direct URL, with one sentence', async () => {
    await expect(migrate(pooler.url)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/^DATABASE_URL leads through a pooler.* set SVC_DATABASE_DIRECT_URL to .*\.$/),
    });
  });

  it('refuses a PgBouncer without prepared statements, and names the required version', async () => {
    expect([await poolingOf(database.url), await poolingOf(pooler.url)]).toEqual(['none', 'transaction']);
    const old = await TransactionPooler.start(database.url, { keepsNames: false });
    await expect(poolingOf(old.url)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringMatching(/PgBouncer 1\.21 or newer with max_prepared_statements/),
    });
    await old.stop();
  });
});
