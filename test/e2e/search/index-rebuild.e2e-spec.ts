import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { eventually } from '../../../testing/eventually';
import { constant, withChanges } from '../../support/changed-code';
import { ServerProcess } from '../../support/server-process';
import { encryptionKey, ROOT, ROOT_SECRET, startTestApp, type TestApp } from '../../../testing/test-app';
import { storeTogether } from '../../support/bundle';
import { indexesSettled } from '../../support/store';

/** A corrected line of the compiled code, and the version that is raised for the correction. */
interface Mend {
  readonly version: 'extraction' | 'folding' | 'hashing';
  readonly file: string;
  readonly line: string;
  readonly mended: string;
  /** The resources that a search finds after the rebuild. */
  readonly finds: Readonly<Record<string, readonly string[]>>;
}

const EXTRACT = 'src/search-index/extract';
const COUNT = 60;
const idOf = (number: number): string => `p${String(number).padStart(2, '0')}`;

const MENDS: readonly [Mend, ...Mend[]] = [
  {
    version: 'extraction',
    file: `${EXTRACT}/value-rows.js`,
    line: "'prefix',",
    mended: "'prefix', 'use',",
    finds: { 'Patient?name=official': ['p07'] },
  },
  {
    version: 'folding',
    file: `${EXTRACT}/fold.js`,
    line: '.toLowerCase()',
    mended: ".toLowerCase().replaceAll('\u00f8', 'o')",
    finds: { 'Patient?family=soren': ['p07'] },
  },
  {
    version: 'hashing',
    file: `${EXTRACT}/half-siphash.js`,
    line: 'let b = high ^ 0xee;',
    mended: 'let b = high ^ 0xed;',
    finds: {
      'Patient?identifier=http://a.example|7': ['p07'],
      'Observation?subject=Patient/p07': ['o'],
      'Observation?subject:Patient.identifier=http://a.example|7': ['o'],
      'Patient?_has:Observation:subject:status=final': ['p07'],
    },
  },
];

describe('a version that computes other index rows', () => {
  let app: TestApp;
  let client: Client;
  let server: ServerProcess | undefined;
  const usual = process.env.TEST_BUILD;
  const builds: string[] = [];

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
    const patients = Array.from({ length: COUNT }, (_one, number) => ({
      resourceType: 'Patient',
      id: idOf(number),
      name: [{ family: number === 7 ? 'Søren' : `Name ${number}`, ...(number === 7 ? { use: 'official' } : {}) }],
      identifier: [{ system: 'http://a.example', value: String(number) }],
    }));
    const observation = {
      resourceType: 'Observation',
      id: 'o',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: 'Patient/p07' },
    };
    const entry = [...patients, observation].map((resource) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }));
    await storeTogether(app, entry);
  });
  afterEach(async () => {
    await server?.end('SIGKILL');
    server = undefined;
    process.env.TEST_BUILD = usual;
  });
  afterAll(async () => {
    for (const folder of builds) await rm(folder, { recursive: true, force: true });
    await app.close();
  });

  /** Copies the latest build, with a corrected line and a raised version. */
  async function build({ version, file, line, mended }: Mend): Promise<void> {
    const last = builds.at(-1) ?? usual ?? '';
    const folder = await mkdtemp(join(dirname(last), 'svc-build-'));
    await cp(last, folder, { recursive: true });
    builds.push(folder);
    await replaceIn(join(folder, file), line, mended);
    await replaceIn(join(folder, `${EXTRACT}/rows-version.js`), `${version}: 1`, `${version}: 2`);
  }

  async function start(): Promise<ServerProcess> {
    process.env.TEST_BUILD = builds.at(-1);
    return (server = await ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      BASE_URL: 'http://svc.example',
      DATABASE_URL: app.databaseUrl,
      SVC_ENCRYPTION_KEY: encryptionKey(),
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: 'not read after the first start',
      ...withChanges(constant('store/index-job.js', 'LOGGED_EACH', ['10_000', '50'])),
    }));
  }

  async function search(query: string): Promise<{ ids: string[]; isWarned: boolean }> {
    const response = await fetch(`${server?.url ?? ''}/fhir/${query}`, { headers: { Authorization: ROOT } });
    if (response.status !== 200) throw new Error(`${query}: ${response.status} ${await response.text()}`);
    const { entry = [] } = (await response.json()) as {
      entry?: { search: { mode: string }; resource: { id: string } }[];
    };
    const found = entry.filter(({ search: { mode } }) => mode === 'match');
    return { ids: found.map(({ resource }) => resource.id), isWarned: found.length < entry.length };
  }

  const doneOf = async (type: string): Promise<number> => {
    const { rows } = await client.query<{ done: string | null }>(
      `select max(done_count) as done from search_parameter_state where state = 'building' and resource_type = $1`,
      [type],
    );
    return Number(rows[0]?.done ?? -1);
  };

  const settled = (): Promise<true> => indexesSettled(client);

  /** Starts the mended code. A lock on a resource stops its index job before this resource. */
  async function rebuildBegins(mend: Mend): Promise<void> {
    await build(mend);
    await client.query('begin');
    await client.query(`select from resource where type = 'Patient' and id = 'p55' for update`);
    await start();
    await eventually('the pass is in the middle', async () => (await doneOf('Patient')) === 55, 60_000);
    expect((await search(Object.keys(mend.finds)[0] ?? '')).isWarned).toBe(true);
  }

  async function rebuildEnds({ finds }: Mend): Promise<void> {
    await settled();
    for (const [query, ids] of Object.entries(finds))
      expect([query, await search(query)]).toEqual([query, { ids, isWarned: false }]);
  }

  const [killed, ...others] = MENDS;

  it(`H1: causes a rebuild, which continues after kill -9: ${killed.version}`, async () => {
    await rebuildBegins(killed);
    expect(server?.output).toMatch(/Indexing Patient anew: 50 of 60 resources are done/);
    await server?.end('SIGKILL');
    await client.query('rollback');
    expect(await doneOf('Patient')).toBe(55);
    await start();
    await rebuildEnds(killed);
    // The new server continues with the remaining five resources, and does not restart.
    expect(server?.output).toMatch(/The index of Patient \(\d+ parameters\) is complete: 60 resources/);
    expect(server?.output).not.toMatch(/Indexing Patient anew/);
  });

  it.each(others.map((mend) => [mend.version, mend] as const))('H1: causes a rebuild: %s', async (_version, mend) => {
    await rebuildBegins(mend);
    await client.query('rollback');
    await rebuildEnds(mend);
  });

  it('H1: causes a running older server to serve reads, and to refuse writes', async () => {
    expect((await app.get('/Patient/p07')).status).toBe(200);
    const refused = await app.put('/Patient/p07', { resourceType: 'Patient', id: 'p07', active: true });
    expect([refused.status, refused.text]).toEqual([503, expect.stringMatching(/other search parameters .* stop it/)]);
    expect((await app.get('/Patient/p07/_history')).json<{ total: number }>().total).toBe(1);
  });
});

async function replaceIn(path: string, line: string, mended: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  if (!text.includes(line)) throw new Error(`${path} has no ${line}`);
  await writeFile(path, text.replace(line, mended));
}
