import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres';
import { requestReindex } from '../../tools/reindex/request-reindex';
import { ADMIN_PASSWORD, basicHeader, encryptionKey, ROOT, ROOT_SECRET } from '../../testing/test-app';
import { eventually } from '../../testing/eventually';
import { constant, withChanges } from '../support/changed-code';
import { ServerProcess } from '../support/server-process';

const PATIENCE = 60_000;
const PATIENTS = 300;
const idOf = (number: number): string => `p${String(number).padStart(3, '0')}`;
const familyOf = (number: number): string => `Family${number % 7}`;
const NUMBERS = Array.from({ length: PATIENTS }, (_one, number) => number);
const SAME_FAMILY = NUMBERS.filter((number) => number % 7 === 3).map(idOf);
const OBSERVATIONS = ['o1', 'o2', 'o3'];
/** The Client `ward` may read the Patients of one family. */
const WARD = basicHeader('ward', 'secret of the ward');

interface Answer {
  readonly status: number;
  readonly ids: readonly string[];
  readonly isWarned: boolean;
  /** Texts of the issues in the OperationOutcome of the answer. */
  readonly said: readonly string[];
}

/** A request that is repeated during the crashes, with its complete answer. */
interface Probe {
  readonly path: string;
  readonly as?: string;
  /** The criteria of If-None-Exist: with them, the request is a conditional create. */
  readonly ifNoneExist?: string;
  readonly status: number;
  readonly ids?: readonly string[];
}

const WHOLE: Probe = { path: '/fhir/Patient/p250/$everything', status: 200, ids: [...OBSERVATIONS, 'p250'] };
const PROBES: readonly Probe[] = [
  WHOLE,
  { path: '/fhir/Patient?family=family3&_count=1000', status: 200, ids: SAME_FAMILY },
  { path: '/fhir/Observation?subject=Patient/p250', status: 200, ids: OBSERVATIONS },
  { path: '/fhir/Patient/p250/$everything?_type=Observation', status: 200, ids: OBSERVATIONS },
  { path: '/fhir/Patient', ifNoneExist: 'identifier=http://a.example|250', status: 200 },
  { path: '/fhir/Patient?_count=1000', as: WARD, status: 200, ids: SAME_FAMILY },
  { path: '/Patient/p248', as: WARD, status: 200 },
  { path: '/Patient/p250', as: WARD, status: 404 },
];

describe('an index build during a kill of the server and a crash of PostgreSQL', () => {
  let directory: string;
  let postgres: EmbeddedPostgres;
  let server: ServerProcess | undefined;
  const clients: Client[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-crash-'));
    await chmod(directory, 0o755);
    postgres = await startEmbeddedPostgres({ dataDirectory: directory });
    server = await start();
    const patients = NUMBERS.map((number) => ({
      resourceType: 'Patient',
      id: idOf(number),
      name: [{ family: familyOf(number) }],
      identifier: [{ system: 'http://a.example', value: String(number) }],
    }));
    const observations = OBSERVATIONS.map((id) => ({
      ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'x' } },
      subject: { reference: 'Patient/p250' },
    }));
    const client = { resourceType: 'Client', id: 'ward', secret: 'secret of the ward', grant_types: ['basic'] };
    const link = [{ resourceType: 'Client', id: 'ward' }];
    const policy = {
      resourceType: 'AccessPolicy',
      id: 'ward',
      engine: 'allow',
      link,
      criteria: 'Patient?family:exact=Family3',
    };
    const entry = [...patients, ...observations, client, policy].map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    const body = JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
    const headers = { Authorization: ROOT, 'Content-Type': 'application/json' };
    const stored = await fetch(`${server.url}/fhir`, { method: 'POST', headers, body });
    expect([stored.status, stored.ok ? '' : await stored.text()]).toEqual([200, '']);
  });
  afterAll(async () => {
    await server?.end('SIGKILL');
    for (const client of clients) await client.end().catch(() => undefined);
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const start = (): Promise<ServerProcess> =>
    ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      BASE_URL: 'http://svc.example',
      DATABASE_URL: postgres.url,
      SVC_ENCRYPTION_KEY: encryptionKey(),
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      // The job looks for work, and again after a failure, every 0.2 s instead of 5 s.
      ...withChanges(constant('store/index-job.js', 'POLL_MILLISECONDS', ['5_000', '200'])),
    });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: postgres.url });
    client.on('error', () => undefined); // a crash of PostgreSQL
    clients.push(client);
    await client.connect();
    return client;
  }

  /** Stops the index job before this Patient while the connection lives. */
  async function holdBefore(number: number): Promise<Client> {
    const client = await connect();
    await client.query('begin');
    await client.query(`select from resource where type = 'Patient' and id = $1 for update`, [idOf(number)]);
    return client;
  }

  async function doneOf(client: Client): Promise<number> {
    const { rows } = await client.query<{ done: string }>(
      `select min(done_count) as done from search_parameter_state where state = 'building' and resource_type = 'Patient'`,
    );
    return Number(rows[0]?.done ?? NaN);
  }

  /** Sends the request of a probe; undefined if no response arrives. */
  async function ask({ path, as = ROOT, ifNoneExist }: Probe): Promise<Answer | undefined> {
    const sent =
      ifNoneExist === undefined
        ? { headers: { Authorization: as } }
        : {
            method: 'POST',
            headers: { Authorization: as, 'Content-Type': 'application/json', 'If-None-Exist': ifNoneExist },
            body: JSON.stringify({ resourceType: 'Patient' }),
          };
    try {
      const response = await fetch(`${server?.url ?? ''}${path}`, sent);
      const { entry = [], issue = [] } = (await response.json()) as {
        entry?: { resource: { resourceType: string; id: string } }[];
        issue?: { diagnostics?: string; details?: { text?: string } }[];
      };
      const said = issue.map(({ diagnostics, details }) => diagnostics ?? details?.text ?? '');
      const found = entry.filter(({ resource }) => resource.resourceType !== 'OperationOutcome');
      const ids = found.map(({ resource }) => resource.id).sort();
      return { status: response.status, ids, isWarned: found.length < entry.length, said };
    } catch {
      return undefined;
    }
  }

  /** Returns the fault of an answer, if any: an incomplete answer must say so, or be a 503. */
  function faultOf(probe: Probe, { status, ids, isWarned, said }: Answer): object | undefined {
    if (status === 503) return undefined;
    const wanted = probe.ids ?? [];
    const isRight = status === probe.status && ids.every((id) => wanted.includes(id));
    return isRight && (isWarned || ids.length === wanted.length)
      ? undefined
      : { ...probe, status, ids, isWarned, said };
  }

  it('H1: resumes, and no response is wrong in the meantime', async () => {
    const faults: object[] = [];
    const answered = new Map<string, number>();
    let isOver = false;
    const first = await holdBefore(0);
    const client = await connect();
    await requestReindex(client, []);
    // Delete all rows that the index job must rebuild, so that a search which relies on them gives a wrong answer.
    for (const table of ['search_token', 'search_string', 'reference_link'])
      await client.query(
        `delete from ${table} s using resource r where r.resource_key = s.resource_key and r.type in ('Patient', 'Observation')`,
      );
    await eventually('it is known', async () => (await ask(WHOLE))?.status === 503, PATIENCE);
    const probing = PROBES.map(async (probe) => {
      while (!isOver) {
        const answer = await ask(probe);
        const fault = answer && faultOf(probe, answer);
        if (fault !== undefined) faults.push(fault);
        if (answer !== undefined) answered.set(probe.path, (answered.get(probe.path) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, answer === undefined ? 50 : 5));
      }
    });

    const second = await holdBefore(100);
    await first.end();
    await eventually('a hundred are done', async () => (await doneOf(client)) === 100, PATIENCE);
    await server?.end('SIGKILL');
    expect(await doneOf(client)).toBe(100);
    server = await start();

    await holdBefore(200);
    await second.end();
    await eventually('two hundred are done', async () => (await doneOf(client)) === 200, PATIENCE);
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name like 'svc-health-server%' limit 1`,
    );
    // PostgreSQL ends all its other processes, and recovers from its log.
    process.kill(rows[0]?.pid ?? NaN, 'SIGKILL');
    const after = await eventually('PostgreSQL has recovered', () => connect().catch(() => undefined), PATIENCE);
    await eventually(
      'all indexes are built',
      async () => (await after.query(`select from search_parameter_state where state <> 'active'`)).rows.length === 0,
      PATIENCE,
    );

    isOver = true;
    await Promise.all(probing);
    expect(faults).toEqual([]);
    expect(Math.min(...PROBES.map(({ path }) => answered.get(path) ?? 0))).toBeGreaterThan(10);
    for (const probe of PROBES)
      expect([probe, await ask(probe)]).toEqual([
        probe,
        expect.objectContaining({ status: probe.status, ids: [...(probe.ids ?? [])].sort(), isWarned: false }),
      ]);
    // The second server has restarted no index job.
    expect(server.output).toMatch(/The index of Patient \(\d+ parameters\) is complete: 300 resources/);
    expect(server.output).not.toMatch(/Indexing Patient anew/);
  });
});
