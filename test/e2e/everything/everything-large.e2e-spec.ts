import { get as httpGet, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { PageLists } from '../../../src/everything/pages/page-lists';
import { type Bundle, bundleOf, storeTogether } from '../../support/bundle';
import { eventually } from '../../../testing/eventually';
import { login, type Person } from '../../../testing/world';
import { BASE_URL, ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

const keysOf = ({ entry }: Bundle): string[] => entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`);
const NDJSON = { headers: { Accept: 'application/fhir+ndjson' } };

/** The number of Observations. One statement cannot read them all. */
const OBSERVATIONS = 1_040;

describe('$everything of large compartments', () => {
  let app: TestApp;
  let replica: TestApp;
  let database: Client;
  let whole: string[];

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_STREAM_STALL_SECONDS: '1', SVC_AUDIT: 'off' } });
    replica = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_AUDIT: 'off' } });
    database = await app.connect();
    await app.put('/fhir/Organization/clinic', { name: 'Clinic' });
    await app.put('/fhir/Practitioner/doctor', {});
    await app.put('/fhir/PractitionerRole/role', {
      practitioner: { reference: 'Practitioner/doctor' },
      organization: { reference: 'Organization/clinic' },
    });
    await app.put('/fhir/Patient/large', { birthDate: '1970-01-01' });
    await app.put('/fhir/Patient/small', {});
    const subject = { reference: 'Patient/large' };
    const filler = 'x'.repeat(3_000);
    const entry = Array.from({ length: OBSERVATIONS }, (_, n) => ({
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { text: n % 2 === 0 ? 'pulse' : filler },
        effectiveDateTime: `20${10 + (n % 10)}-06-01`,
        subject,
        performer: [n % 3 === 0 ? subject : { reference: 'PractitionerRole/role' }],
      },
      request: { method: 'POST', url: 'Observation' },
    }));
    await storeTogether(app, entry);
    await app.put('/fhir/Basic/heavy', {
      code: { text: 'y'.repeat(100_000) },
      subject: { reference: 'Patient/small' },
    });
    await app.put('/fhir/Patient/wide', {});
    // The answer is larger than the buffers of a connection.
    for (let n = 0; n < 30; n++)
      await app.put(`/fhir/Basic/w-${n}`, {
        code: { text: 'z'.repeat(600_000) },
        subject: { reference: 'Patient/wide' },
      });
    await app.put('/fhir/Flag/raised', { status: 'active', code: { text: 'x' }, subject });
    whole = keysOf((await app.get('/fhir/Patient/large/$everything')).json<Bundle>());
  }, 120_000);
  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  const get = async (query: string, of = app): Promise<Bundle> => {
    const answer = await of.get(query.startsWith('http') ? query : `/fhir/Patient/large/$everything${query}`);
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return bundleOf(answer);
  };
  const linesOf = (text: string): string[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const { resourceType, id } = JSON.parse(line) as { resourceType: string; id: string };
        return `${resourceType}/${id}`;
      });
  const nextOf = ({ link }: Bundle): string | undefined => link.find(({ relation }) => relation === 'next')?.url;
  const pagesFrom = async (first: Bundle): Promise<Bundle[]> => {
    const pages = [first];
    for (let next = nextOf(first); next !== undefined;) {
      const page = await get(next, pages.length % 2 === 0 ? app : replica);
      pages.push(page);
      next = nextOf(page);
    }
    return pages;
  };

  it('returns each resource once: the patient first, then by type', async () => {
    expect([whole.length, new Set(whole).size]).toEqual([OBSERVATIONS + 2, OBSERVATIONS + 2]);
    const bundle = await get('');
    expect([bundle.total, whole.slice(0, 2)]).toEqual([whole.length, ['Patient/large', 'Flag/raised']]);
    const updated = bundle.entry.slice(2).map(({ resource }) => resource.meta.lastUpdated);
    expect(updated).toEqual([...updated].sort().reverse());
  });

  it('returns a body that is too long for one statement', async () => {
    const { total, entry } = (await app.get('/fhir/Patient/small/$everything')).json<Bundle>();
    expect([total, entry.at(-1)?.resource]).toEqual([2, expect.objectContaining({ id: 'heavy' })]);
  });

  describe('NDJSON', () => {
    it.each([['identity'], ['gzip'], ['br']])('has the same resources, one per line (%s)', async (encoding) => {
      const answer = await app.get('/fhir/Patient/large/$everything', {
        headers: { ...NDJSON.headers, 'Accept-Encoding': encoding },
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/fhir+ndjson']);
      expect(linesOf(answer.text)).toEqual(whole);
    });

    it('can be requested with _format, also for a small compartment and with _elements', async () => {
      const { text } = await app.get('/Patient/small/$everything?_format=ndjson&_elements=birthDate&_type=Patient');
      expect(linesOf(text)).toEqual(['Patient/small']);
      expect(text).toContain('SUBSETTED');
    });

    it.each(['_count=5', '_summary=count', '_manifest=1', '_explain=1'])('refuses %s', async (query) => {
      expect((await app.get(`/fhir/Patient/large/$everything?${query}`, NDJSON)).status).toBe(400);
    });

    it('returns 406 for operations that do not stream', async () => {
      expect((await app.get('/fhir/Patient/large', NDJSON)).status).toBe(406);
      expect((await app.get('/fhir/$version', NDJSON)).status).toBe(406);
    });

    it('returns errors as JSON, with their status', async () => {
      const refused = await app.get('/fhir/Patient/nobody/$everything', NDJSON);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([
        404,
        'application/fhir+json; charset=utf-8',
      ]);
    });

    it('returns only the headers for HEAD', async () => {
      const answer = await app.send('HEAD', '/fhir/Patient/large/$everything', NDJSON);
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect((await app.send('HEAD', '/fhir/Patient/nobody/$everything', NDJSON)).status).toBe(404);
    });
  });

  /** Requests an answer that is larger than the buffers of a connection, and reads nothing yet. */
  const askAndWait = (of = app): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const url = `${of.url}/fhir/Patient/wide/$everything`;
      httpGet(url, { headers: { ...NDJSON.headers, Authorization: ROOT } }, (answer) => {
        answer.on('error', () => undefined);
        resolve(answer);
      }).on('error', reject);
    });
  const openSnapshots = async (): Promise<number> => {
    const { rows } = await database.query<{ open: number }>(
      `select count(*)::integer as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    return rows[0]?.open ?? 0;
  };

  it('releases its database connection when the client stops reading or disconnects', async () => {
    for (const leaves of [false, true]) {
      const answer = await askAndWait();
      await eventually('the stream waits for its reader', async () => (await openSnapshots()) === 1);
      if (leaves) answer.destroy();
      await eventually('its snapshot is closed', async () => (await openSnapshots()) === 0, 3_000);
      answer.destroy();
    }
  });

  describe('pages', () => {
    it('together contain everything, on every replica', async () => {
      const pages = await pagesFrom(await get('?_count=500'));
      expect(pages.map(({ entry }) => entry.length)).toEqual([500, 500, 42]);
      expect(pages.flatMap(keysOf)).toEqual(whole);
      expect(pages.map(({ total }) => total)).toEqual(pages.map(() => whole.length));
    });

    it('show the versions at the time of the first page, even after later writes', async () => {
      await app.put('/fhir/Patient/moving', {});
      const flag = { status: 'active', code: { text: 'before' }, subject: { reference: 'Patient/moving' } };
      for (const id of ['m-1', 'm-2', 'm-3', 'm-4']) await app.put(`/fhir/Flag/${id}`, flag);
      const first = (await app.get('/fhir/Patient/moving/$everything?_count=2')).json<Bundle>();
      await app.put('/fhir/Flag/m-1', { ...flag, code: { text: 'after' } });
      await app.delete('/fhir/Flag/m-2');
      await app.put('/fhir/Flag/m-5', flag);
      const pages = await pagesFrom(first);
      expect(pages.flatMap(keysOf)).toEqual(['Patient/moving', 'Flag/m-4', 'Flag/m-3', 'Flag/m-2', 'Flag/m-1']);
      expect(JSON.stringify(pages)).not.toContain('after');
    });

    it('keep the parameters and the elements of the first request', async () => {
      const first = await get('?_count=400&_type=Observation&start=2015&_elements=status');
      const pages = await pagesFrom(first);
      expect([first.total, pages.flatMap(keysOf).length]).toEqual([OBSERVATIONS / 2, OBSERVATIONS / 2]);
      expect(JSON.stringify(pages)).not.toContain('effectiveDateTime');
    });

    it('are not stored if the first one contains everything', async () => {
      const count = async (): Promise<unknown> => (await database.query('select count(*) from everything_entry')).rows;
      const before = await count();
      expect(nextOf((await app.get('/fhir/Patient/small/$everything?_count=10')).json<Bundle>())).toBeUndefined();
      expect(await count()).toEqual(before);
    });

    it('are 410 after they expired or if unknown, and are refused to other callers', async () => {
      const next = nextOf(await get('?_count=1000')) ?? '';
      const other: Person = await login(app, 'other');
      expect((await app.get(next, { authorization: other.bearer })).status).toBe(403);
      expect((await app.get(next.replace('/large/', '/small/'))).status).toBe(400);
      expect((await app.get(`${next}&_type=Flag`)).status).toBe(400);
      expect((await app.get(next)).status).toBe(200);
      await database.query('update everything_list set expires_at = clock_timestamp()');
      const gone = await app.get(next);
      expect([gone.status, gone.text]).toEqual([410, expect.stringContaining('first page')]);
      expect((await app.get('/fhir/Patient/large/$everything?_cursor=nonsense')).status).toBe(400);
    });

    it('of one caller are limited: a new list replaces the oldest', async () => {
      const first = nextOf((await app.get('/fhir/Patient/moving/$everything?_count=1')).json<Bundle>()) ?? '';
      for (let n = 0; n < 20; n++) await app.get('/fhir/Patient/moving/$everything?_count=1');
      expect((await app.get(first)).status).toBe(410);
      const { rows } = await database.query<{ lists: number }>(
        'select count(*)::integer as lists from everything_list where expires_at > clock_timestamp()',
      );
      expect(rows[0]?.lists).toBe(20);
    });

    it('of all callers are limited: a new list replaces the oldest one of the caller with most entries', async () => {
      const keep = (caller: string, size: number, minutes: number): Promise<unknown> =>
        database.query(
          `insert into everything_list (list_id, expires_at, total, size, caller, patient_id)
            values (gen_random_uuid(), clock_timestamp() + make_interval(mins => $3), $2, $2, $1, 'large')`,
          [caller, size, minutes],
        );
      const kept = async (): Promise<unknown> =>
        (
          await database.query(
            `select caller, size from everything_list where caller in ('greedy', 'large', 'small') order by caller, size`,
          )
        ).rows.map(({ caller, size }: { caller?: string; size?: number }) => `${caller} ${size}`);
      await keep('small', 300, 10);
      await keep('small', 301, 20);
      await keep('large', 499_999, 15);
      for (const size of [400_001, 400_002, 400_003, 400_004]) await keep('greedy', size, 30 + (size % 10));
      expect((await app.get('/fhir/Patient/moving/$everything?_count=1')).status).toBe(200);
      const others = ['large 499999', 'small 300', 'small 301'];
      expect(await kept()).toEqual(['greedy 400002', 'greedy 400003', 'greedy 400004', ...others]);

      // Newest lists stay, even if they fill the space of all.
      await keep('greedy', 2_000_000, 50);
      const refused = await app.get('/fhir/Patient/moving/$everything?_count=1');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
      expect(await kept()).toEqual(['greedy 2000000', 'large 499999', 'small 301']);
    });

    it('are deleted after they expired', async () => {
      await database.query('update everything_list set expires_at = clock_timestamp()');
      const lists = app.app.get(PageLists, { strict: false });
      await eventually('nothing is left', async () => {
        await lists.step();
        const { rows } = await database.query('select from everything_list union all select from everything_entry');
        return rows.length === 0;
      });
    });

    it('check the rights again', async () => {
      const policy = (criteria: string[]): Promise<unknown> =>
        app.put('/AccessPolicy/reader', { engine: 'allow', link: [{ resourceType: 'User', id: 'reader' }], criteria });
      const reader = await login(app, 'reader', { policies: [] });
      await policy(['Patient', 'Observation?date=ge2015-01-01', 'Flag']);
      const first = await app.get('/fhir/Patient/large/$everything?_count=2', { authorization: reader.bearer });
      expect([first.status, first.json<Bundle>().total]).toEqual([200, OBSERVATIONS / 2 + 2]);
      await policy(['Patient', 'Flag']);
      const limited = await app.get('/fhir/Patient/large/$everything?_include=*', { authorization: reader.bearer });
      expect(limited.json<Bundle>().entry.map(({ search }) => search.mode)).toEqual(['match', 'match']);
      await policy(['Patient', 'Flag', 'Observation?date=ge2019-01-01', 'PractitionerRole', 'Organization']);
      const { text } = await app.get('/fhir/Patient/large/$everything?_include=*', {
        ...NDJSON,
        authorization: reader.bearer,
      });
      expect(linesOf(text).slice(-2)).toEqual(['Organization/clinic', 'PractitionerRole/role']);
      expect(linesOf(text)).toHaveLength(OBSERVATIONS / 10 + 4);
      await policy(['Patient', 'Flag']);
      const second = await app.get(nextOf(first.json<Bundle>()) ?? '', { authorization: reader.bearer });
      expect(second.json<Bundle>().entry.map(({ search }) => search.mode)).toEqual(['outcome']);
    });
  });

  it('_include adds the resources that entries refer to, and iterates', async () => {
    expect(JSON.stringify(whole)).not.toContain('Practitioner');
    const bundle = await get('?_include=Practitioner,PractitionerRole,Encounter:service-provider');
    const included = bundle.entry.slice(whole.length);
    expect([bundle.total, keysOf({ ...bundle, entry: included })]).toEqual([
      whole.length,
      ['Practitioner/doctor', 'PractitionerRole/role'],
    ]);
    const by = (name: string): object => ({ url: 'urn:svc:included-by', valueString: name });
    expect(included.map(({ search }) => search)).toEqual([
      { extension: [by('PractitionerRole:practitioner')], mode: 'include' },
      { extension: [by('Observation:performer')], mode: 'include' },
    ]);
    const all = await app.get('/fhir/Patient/large/$everything?_include=*', NDJSON);
    expect(linesOf(all.text).slice(whole.length)).toEqual([
      'Organization/clinic',
      'Practitioner/doctor',
      'PractitionerRole/role',
    ]);
    const pages = await pagesFrom(await get('?_count=1000&_include=Observation:performer'));
    expect(pages.flatMap(keysOf)).toEqual([...whole, 'PractitionerRole/role']);
    expect(pages.map(({ total }) => total)).toEqual([whole.length, whole.length]);
    // The parameter `patient` has only references to Patients, so no other type is included.
    const narrowed = await get('?_include=Observation:patient');
    expect(narrowed.entry).toHaveLength(whole.length);
    for (const wrong of ['Nobody', 'Observation:code', 'Observation:performer:Nobody'])
      expect((await app.get(`/fhir/Patient/large/$everything?_include=${wrong}`)).status).toBe(400);
  });

  it('_manifest returns the number of resources and what was left out', async () => {
    interface Part {
      readonly name: string;
      readonly part?: readonly Part[];
      readonly [value: string]: unknown;
    }
    const manifest = async (query: string): Promise<Part[]> =>
      (await app.get(`/fhir/Patient/large/$everything?_manifest=1${query}`)).json<{ parameter: Part[] }>().parameter;
    const lines = (await app.get('/fhir/Patient/large/$everything', NDJSON)).text;
    expect((await manifest('')).slice(0, 3)).toEqual([
      { name: 'complete', valueBoolean: true },
      { name: 'count', valueInteger: whole.length },
      { name: 'bytes', valueDecimal: Buffer.byteLength(lines) - whole.length },
    ]);
    const [complete, count, , ...types] = await manifest('&_type=Observation&start=2015&_since=2001-01-01');
    expect([complete?.valueBoolean, count?.valueInteger]).toEqual([false, OBSERVATIONS / 2]);
    const leftOut = types.map(({ part = [] }) => [
      part[0]?.valueCode,
      part
        .filter(({ name }) => name === 'left-out')
        .map((one) => one.part?.map(({ valueCode, valueInteger }) => valueCode ?? valueInteger)),
    ]);
    expect(leftOut).toEqual([
      ['Patient', [['_type', 1]]],
      ['Flag', [['_type', 1]]],
      ['Observation', [['dates', OBSERVATIONS / 2]]],
    ]);
  });

  it('_explain returns SQL, plan, rows and time of each type', async () => {
    const { explain, entry } = (await get('?_explain=1')) as Bundle & { explain: Record<string, unknown>[] };
    expect(entry).toHaveLength(whole.length);
    expect(explain.map(({ type, rows }) => [type, rows])).toEqual([
      ['Patient', 1],
      ['Flag', 1],
      ['Observation', OBSERVATIONS],
    ]);
    expect(explain[2]).toMatchObject({
      query: expect.arrayContaining([expect.stringContaining('reference_link')]),
      plan: expect.stringContaining('reference_link_target_idx'),
      milliseconds: expect.any(Number),
    });
  });

  it('_timeout limits the whole request, and the error names the type and the index', async () => {
    const blocker = await app.connect();
    await blocker.query('begin; lock table reference_link in access exclusive mode');
    try {
      for (const query of ['', '&_count=10', '&_manifest=1']) {
        const answer = await app.get(`/fhir/Patient/large/$everything?_timeout=1&_type=Observation${query}`);
        const { issue } = answer.json<{ issue: [{ code: string; diagnostics: string }] }>();
        expect([answer.status, issue[0].code]).toEqual([504, 'timeout']);
        expect(issue[0].diagnostics).toMatch(
          /at \w+\..*_timeout.*create index concurrently reference_link_target_idx/s,
        );
      }
    } finally {
      await blocker.query('rollback');
      await blocker.end();
    }
  });

  it('a failure in the middle of a stream closes the connection', async () => {
    const answer = await askAndWait(replica);
    const closed = new Promise((resolve) => answer.once('close', resolve));
    await eventually('its connection to the database is ended', async () => {
      const { rowCount } = await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      );
      return rowCount === 1;
    });
    answer.resume();
    await closed;
    expect([answer.statusCode, answer.complete]).toEqual([200, false]);
  });

  it('a stream shows the versions at its start, however long it takes', async () => {
    const flag = (text: string): Promise<unknown> =>
      app.put('/fhir/Flag/of-wide', { status: 'active', code: { text }, subject: { reference: 'Patient/wide' } });
    await flag('before');
    const answer = await askAndWait(replica);
    await eventually('the stream waits for its reader', async () => (await openSnapshots()) === 1);
    await flag('after');
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const last = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ id: 'of-wide', code: { text: 'before' } });
  });

  it('YAML and pretty JSON are written as a whole', async () => {
    const yaml = await app.get('/fhir/Patient/large/$everything?_format=yaml&_type=Flag');
    expect(yaml.text).toContain('total: 1');
    const pretty = await app.get('/fhir/Patient/large/$everything?_pretty=true');
    expect(pretty.text.split('\n').length).toBeGreaterThan(OBSERVATIONS);
  });

  it('runs in a batch, but not in a transaction, whose writes its snapshot would miss', async () => {
    const bundle = (type: string): object => ({
      resourceType: 'Bundle',
      type,
      entry: [{ request: { method: 'GET', url: 'Patient/large/$everything?_type=Observation' } }],
    });
    const batch = (await app.post('/fhir', bundle('batch'))).json<{ entry: { resource: Bundle }[] }>();
    expect(batch.entry[0]?.resource.total).toBe(OBSERVATIONS);
    expect((await app.post('/fhir', bundle('transaction'))).status).toBe(405);
  });

  it('links use the root of the request', async () => {
    const native = (await app.get('/Patient/large/$everything?_count=1000')).json<Bundle>();
    expect(nextOf(native)).toMatch(new RegExp(`^${BASE_URL}/Patient/large/\\$everything\\?_count=1000&_cursor=`));
  });
});
