import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { INDEX_TASK } from '../../../src/store/index-job';
import { progressOfTypes, requestReindex } from '../../../tools/reindex/request-reindex';
import { idsOn } from '../../support/bundle';
import { cloneDatabase } from '../../../testing/test-databases';
import { runStatement } from '../../../testing/databases';
import { eventually } from '../../../testing/eventually';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const patient = (id: string, family: string): object => ({ resourceType: 'Patient', id, name: [{ family }] });

describe('npm run reindex', () => {
  let app: TestApp;
  let client: Client;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
    for (const number of [1, 2, 3]) await app.put(`/Patient/r${number}`, patient(`r${number}`, `Lost ${number}`));
  });
  afterAll(() => app.close());
  // A type that is still being built would continue its build in the next test, instead of beginning another one.
  afterEach(async () => {
    wake();
    await eventually('no build is left', async () => {
      const { rows } = await client.query(`select from search_parameter_state where state <> 'active'`);
      return rows.length === 0;
    });
  });

  /** Deletes rows, as a fault of older code or a manual change could. */
  const loseRows = async (): Promise<void> => {
    await client.query(
      `delete from search_string s using resource r where r.resource_key = s.resource_key and r.type = 'Patient'`,
    );
    expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual([]);
  };

  const wake = (): void => {
    void app.provider(BackgroundTasks).wake(INDEX_TASK);
  };

  /** Requests a rebuild, and wakes the job of the server: it looks for work every five seconds only. */
  const rebuild = async (on: Client, types: readonly string[]): Promise<readonly string[]> => {
    const requested = await requestReindex(on, types);
    wake();
    return requested;
  };

  const sessionsOfTool = async (): Promise<number> =>
    (
      await client.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'reindex'`,
      )
    ).rows.length;

  const run = (...sent: string[]): Promise<{ code: number | null; text: string }> => runOn(app.databaseUrl, ...sent);

  let latestChild: ChildProcess | undefined;
  let latestText = '';

  const runOn = (databaseUrl: string, ...sent: string[]): Promise<{ code: number | null; text: string }> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(process.env.TEST_BUILD ?? '', 'tools/reindex/reindex.js'), ...sent], {
        env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
      });
      latestChild = child;
      latestText = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (latestText += chunk.toString()));
      child.on('close', (code) => {
        resolve({ code, text: latestText });
      });
    });

  it('H1: rebuilds the index rows of a type, and shows the progress', async () => {
    await loseRows();
    const { code, text } = await run('Patient');
    expect([code, text]).toEqual([0, expect.stringMatching(/reindex \[#{24}\] 100 % {2}3\/3/)]);
    expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual(['r1', 'r2', 'r3']);
  });

  it('H1: gives a remedy for a database that no server of this version has used', async () => {
    const database = await cloneDatabase('new');
    try {
      await runStatement(database.url, `delete from server_setup where name = 'search-index'`);
      expect(await runOn(database.url, 'Patient')).toEqual({
        code: 1,
        text: 'No server of this version has been started on this database: its first start builds all rows.\n',
      });
      await runStatement(database.url, 'drop schema public cascade; create schema public');
      expect(await runOn(database.url, 'Patient')).toEqual({
        code: 1,
        text: 'The database does not have the schema of this version yet: start a server, or run the tool migrate.\n',
      });
    } finally {
      await database.drop();
    }
  });

  it('says at once that it waits for a server, when none runs', async () => {
    const database = await cloneDatabase('started');
    try {
      const ended = runOn(database.url, 'Patient');
      await eventually('it says so', () => latestText.includes('Waiting for a server to begin'), 10_000);
      latestChild?.kill('SIGKILL');
      await ended;
    } finally {
      await database.drop();
    }
  });

  it('H1: joins a rebuild in progress, and finds concurrent writes', async () => {
    await loseRows();
    await client.query('begin');
    await client.query(`select from resource where type = 'Patient' and id = 'r2' for update`);
    const other = await app.connect();
    try {
      expect(await rebuild(other, ['Patient'])).toEqual(['Patient']);
      await eventually('one is done', async () => (await progressOfTypes(other, ['Patient'])).done === 1, 20_000);
      // An update replaces all rows, since the digests are invalid.
      await app.put('/Patient/r3', { ...patient('r3', 'Lost 3'), gender: 'male' });
      expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual(['r1', 'r3']);
      await rebuild(other, ['Patient']);
      expect(await progressOfTypes(other, ['Patient'])).toMatchObject({
        isBegun: true,
        isDone: false,
        done: 1,
        total: 3,
      });
      await client.query('rollback');
      await eventually('all are done', async () => (await progressOfTypes(other, ['Patient'])).isDone);
    } finally {
      await other.end();
    }
    expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual(['r1', 'r2', 'r3']);
  });

  it('H1: measures the time of each type from its own first step, since types are rebuilt in turn', async () => {
    await app.put('/Group/first', { resourceType: 'Group', type: 'person', actual: true });
    await rebuild(client, ['Group', 'Patient']);
    await eventually('both are done', async () => (await progressOfTypes(client, ['Group', 'Patient'])).isDone, 20_000);
    const { rows } = await client.query<{ is_later: boolean }>(
      `select p.started_at >= g.finished_at as is_later from search_parameter_state g, search_parameter_state p
      where (g.resource_type, g.code, p.resource_type, p.code) = ('Group', 'type', 'Patient', 'family')`,
    );
    expect(rows).toEqual([{ is_later: true }]);
  });

  it('H1: rebuilds another type while one is in progress', async () => {
    await app.put('/Group/other', { resourceType: 'Group', type: 'person', actual: true });
    await loseRows();
    await client.query('begin');
    await client.query(`select from resource where type = 'Group' and id = 'other' for update`);
    const other = await app.connect();
    try {
      await rebuild(other, ['Group']);
      expect(await rebuild(other, ['Group', 'Patient'])).toEqual(['Group', 'Patient']);
      await eventually('Patients are done', async () => (await progressOfTypes(other, ['Patient'])).isDone, 20_000);
      expect((await progressOfTypes(other, ['Group'])).isDone).toBe(false);
    } finally {
      await other.end();
      await client.query('rollback');
    }
    expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual(['r1', 'r2', 'r3']);
  });

  it('a call without types shows a rebuild in progress, and does not begin finished types again', async () => {
    await app.put('/Group/late', { resourceType: 'Group', type: 'person', actual: true });
    const holder = await app.connect();
    await holder.query('begin');
    await holder.query(`select from resource where type = 'Group' and id = 'late' for update`);
    try {
      await rebuild(client, ['Group', 'Patient']);
      await eventually('Patients are done', async () => (await progressOfTypes(client, ['Patient'])).isDone, 20_000);
      const repeated = run();
      await eventually('the tool follows', async () => (await sessionsOfTool()) > 0, 20_000);
      await new Promise((done) => setTimeout(done, 1000));
      expect((await progressOfTypes(client, ['Patient'])).isDone).toBe(true);
      await holder.query('rollback');
      wake();
      const { code, text } = await repeated;
      expect([code, text.split('\n')[0]]).toEqual([
        0,
        'A rebuild is in progress: this call shows the rest of it, and starts no other.',
      ]);
    } finally {
      await holder.end();
    }
  });

  it('O9: ends with the message of PostgreSQL and without a stack when its session ends', async () => {
    await app.put('/Group/held', { resourceType: 'Group', type: 'person', actual: true });
    const holder = await app.connect();
    await holder.query('begin');
    await holder.query(`select from resource where type = 'Group' and id = 'held' for update`);
    const ended = run('Group');
    try {
      await eventually(
        'its session has ended',
        async () => {
          const { rows } = await client.query<{ ended: boolean }>(
            `select pg_terminate_backend(pid) as ended from pg_stat_activity
            where datname = current_database() and application_name = 'reindex'`,
          );
          return rows.length > 0;
        },
        20_000,
      );
    } finally {
      await holder.end();
    }
    const { code, text } = await ended;
    expect([code, text.split('\n').slice(-2)]).toEqual([1, [expect.stringMatching(/terminat|not queryable/), '']]);
    expect(text).not.toContain(' at ');
  });

  it('H1: rebuilds all types if none is named, and refuses an unknown one', async () => {
    await loseRows();
    const waking = setInterval(wake, 200);
    const { code } = await run();
    clearInterval(waking);
    expect(code).toBe(0);
    expect(await idsOn(app, '/fhir/Patient?family=lost')).toEqual(['r1', 'r2', 'r3']);
    expect(await run('Patiant')).toEqual({
      code: 1,
      text: '"Patiant" is no type with search parameters. Did you mean "Patient"?\n',
    });
  });
});
