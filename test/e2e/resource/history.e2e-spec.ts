import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { searchParameterDefinitions } from '../../../src/fhir/definitions/definitions';
import { type Bundle, bundleOf, followPages, type HistoryEntry } from '../../support/bundle';
import { eventually } from '../../../testing/eventually';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

interface Entry extends HistoryEntry {
  readonly fullUrl: string;
  readonly request: { readonly method: string; readonly url: string };
  readonly response: { readonly status: string; readonly etag: string; readonly lastModified: string };
}
type History = Bundle<Entry>;

/** The name of a version: `Patient/a 2`. */
const versionOf = ({ fullUrl, response }: Entry): string =>
  `${fullUrl.split('/').slice(-2).join('/')} ${/\d+/.exec(response.etag)?.[0] ?? ''}`;
const versionsOf = (pages: readonly History[]): string[] => pages.flatMap(({ entry }) => entry.map(versionOf));
const linkOf = ({ link }: History, wanted: string): string | undefined =>
  link.find(({ relation }) => relation === wanted)?.url;

const bodyOf = (type: 'Patient' | 'Observation', text: string): object =>
  type === 'Patient' ? { name: [{ text }] } : { status: 'final', code: { text } };

describe('the history of a type and of the server', () => {
  let app: TestApp;
  /** The time of each version, by its name. */
  const times = new Map<string, string>();

  beforeAll(async () => {
    app = await startTestApp();
    for (const [method, type, id] of [
      ['PUT', 'Patient', 'a'],
      ['PUT', 'Observation', 'o'],
      ['PUT', 'Patient', 'b'],
      ['PUT', 'Patient', 'a'],
      ['DELETE', 'Patient', 'b'],
      ['PUT', 'Patient', 'a'],
      ['PUT', 'Patient', 'b'],
    ] as const) {
      const answer = await app.send(
        method,
        `/${type}/${id}`,
        method === 'PUT' ? { body: bodyOf(type, String(times.size)) } : {},
      );
      const { entry } = bundleOf<Entry>(await app.get(`/${type}/${id}/_history?_count=1`));
      const [newest] = entry;
      if (answer.status >= 300 || newest === undefined) throw new Error(answer.text);
      times.set(versionOf(newest), newest.response.lastModified);
    }
  });
  afterAll(() => app.close());

  const history = async (path: string): Promise<History> => bundleOf<Entry>(await app.get(path));

  it('lists the versions of a type, newest first, with a total', async () => {
    const bundle = await history('/fhir/Patient/_history');
    expect([bundle.type, bundle.total]).toEqual(['history', 6]);
    expect(versionsOf([bundle])).toEqual([
      'Patient/b 3',
      'Patient/a 3',
      'Patient/b 2',
      'Patient/a 2',
      'Patient/b 1',
      'Patient/a 1',
    ]);
    expect(bundle.entry[2]).toEqual({
      fullUrl: `${BASE_URL}/fhir/Patient/b`,
      request: { method: 'DELETE', url: 'Patient/b' },
      response: { status: '200 OK', etag: 'W/"2"', lastModified: times.get('Patient/b 2') },
    });
    expect(bundle.entry[0]?.resource).toMatchObject({ id: 'b', meta: { versionId: '3' } });
    // A PUT after a deletion creates the resource again.
    expect(bundle.entry.map(({ response }) => response.status.slice(0, 3))).toEqual([
      ...['201', '200', '200', '200', '201', '201'],
    ]);
  });

  it.each(['/fhir', ''])('lists the versions of all types on the root "%s"', async (root) => {
    const bundle = await history(`${root}/_history?_count=1000`);
    const listed = versionsOf([bundle]);
    expect(listed.filter((version) => /^(Patient|Observation)/.test(version))).toEqual([...times.keys()].reverse());
    // The history also contains the resources that the server stores at its first start.
    expect(listed).toContain('CompartmentDefinition/patient 1');
    expect(bundle.total).toBeGreaterThan(searchParameterDefinitions().length);
    expect(bundle.link[0]).toEqual({ relation: 'self', url: `${BASE_URL}${root}/_history?_count=1000` });
  });

  it('is empty for a type without resources, and 404 for an unknown type', async () => {
    expect(await history('/Basic/_history')).toMatchObject({ total: 0 });
    expect((await app.get('/Nothing/_history')).status).toBe(404);
    expect((await app.get('/Patient/never/_history')).status).toBe(404);
    expect(bundleOf<Entry>(await app.get('/Patient/a/_history?_since=2999-01-01')).total).toBe(0);
  });

  describe('_since', () => {
    it('lists versions created at the time or later', async () => {
      const at = encodeURIComponent(times.get('Patient/a 2') ?? '');
      expect(versionsOf([await history(`/Patient/_history?_since=${at}`)])).toEqual([
        ...['Patient/b 3', 'Patient/a 3', 'Patient/b 2', 'Patient/a 2'],
      ]);
      expect(versionsOf([await history(`/Patient/a/_history?_since=${at}`)])).toEqual(['Patient/a 3', 'Patient/a 2']);
      expect((await history('/Patient/_history?_since=2020')).total).toBe(6);
    });
  });

  describe('_at', () => {
    const at = async (path: string, time: string): Promise<string[]> => {
      const bundle = await history(`${path}?_at=${encodeURIComponent(time)}`);
      expect(bundle.entry).toHaveLength(Math.min(bundle.total ?? 0, 100));
      return versionsOf([bundle]);
    };

    it('lists the versions that were current at an instant', async () => {
      const moment = times.get('Patient/a 2') ?? '';
      expect(await at('/Patient/_history', moment)).toEqual(['Patient/a 2', 'Patient/b 1']);
      expect(await at('/Patient/a/_history', moment)).toEqual(['Patient/a 2']);
      expect(await at('/_history', times.get('Observation/o 1') ?? '')).toEqual(
        expect.arrayContaining(['Observation/o 1', 'Patient/a 1']),
      );
    });

    it('lists a deletion at its time, and nothing later', async () => {
      expect(await at('/Patient/b/_history', times.get('Patient/b 2') ?? '')).toEqual(['Patient/b 2']);
      expect(await at('/Patient/b/_history', times.get('Patient/a 3') ?? '')).toEqual([]);
    });

    it('lists all versions that were current at some time in a period', async () => {
      const today = (times.get('Patient/a 1') ?? '').slice(0, 4);
      expect(await at('/Patient/_history', today)).toHaveLength(6);
      expect(await at('/Patient/_history', '2020')).toEqual([]);
    });
  });

  it('can be counted without entries, and listed without a total', async () => {
    for (const query of ['_count=0', '_summary=count']) {
      expect(await history(`/Patient/_history?${query}`)).toMatchObject({ total: 6 });
    }
    expect(await history('/Patient/_history?_total=none')).not.toHaveProperty('total');
  });

  it('applies _elements, with the SUBSETTED tag', async () => {
    const { entry } = await history('/Patient/_history?_elements=active&_count=1');
    expect(entry[0]?.resource).toMatchObject({ id: 'b', meta: { tag: [{ code: 'SUBSETTED' }] } });
    expect(entry[0]?.resource).not.toHaveProperty('name');
  });

  it.each([
    ['_sinc=2020', '_sinc'],
    ['family=x', 'family'],
    ['_since=yesterday', '_since'],
    ['_since=2020&_since=2021', '_since'],
    ['_at=2020-02-30', '_at'],
    ['_count=-1', '_count'],
    ['_sort=_lastUpdated', '_lastUpdated'],
    ['_total=some', '_total'],
    ['_summary=some', '_summary'],
    ['_before=x', '_before'],
    ['_before=a.Patient.1.b&_after=a.Patient.1.b', '_after'],
    ['_page=0', '_page'],
    ['_page=-1', '_page'],
    ['_page=two', '_page'],
    ['_page=102', 'next'],
    ['_page=2&_before=a.Patient.1.b', '_before'],
    ['_txid=-1', '_txid'],
    ['_txid=0x10', '_txid'],
    ['_txid=9999999999999999999', '_txid'],
  ])('refuses ?%s and names the parameter', async (query, named) => {
    for (const path of ['/_history', '/Patient/_history', '/fhir/Patient/a/_history']) {
      const answer = await app.get(`${path}?${query}`);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(named)]);
    }
  });

  it('accepts parameters without effect, and ignores unknown ones with handling=lenient', async () => {
    expect((await history('/Patient/_history?_sort=-_lastUpdated&_since=&_pretty=true')).total).toBe(6);
    const lenient = await app.get('/Patient/_history?family=x', { headers: { Prefer: 'handling=lenient' } });
    expect(lenient.json<History>().link[0]?.url).toBe(`${BASE_URL}/Patient/_history?_count=100`);
  });

  it('is read-only', async () => {
    for (const path of ['/_history', '/fhir/Patient/_history', '/Patient/a/_history', '/Patient/a/_history/1']) {
      const answer = await app.delete(path);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  it('pages forward and back over the same versions', async () => {
    // `news` is the history of the server without the resources that it stored at its first start.
    const news = `/_history?_since=${times.get('Patient/a 1')}&`;
    for (const path of [news, '/Patient/_history?', '/Patient/a/_history?']) {
      const whole = versionsOf([await history(`${path}_count=1000`)]);
      const pages = await followPages<Entry>(app, `${path}_count=2`);
      expect(versionsOf(pages)).toEqual(whole);
      expect(pages.map(({ total }) => total)).toEqual(pages.map(() => whole.length));
      const [first, last] = [pages[0], pages.at(-1)];
      if (first === undefined || last === undefined) throw new Error('no page');
      expect([linkOf(first, 'previous'), linkOf(last, 'next')]).toEqual([undefined, undefined]);
      const back = [last];
      for (let url = linkOf(last, 'previous'); url !== undefined; url = linkOf(back[0] ?? last, 'previous')) {
        back.unshift(await history(url));
      }
      expect(versionsOf(back)).toEqual(whole);
      const [start] = back;
      if (start !== undefined && pages.length > 1) expect(linkOf(start, 'next')).toBeDefined();
      expect(await history(linkOf(last, 'first') ?? linkOf(last, 'self') ?? '')).toMatchObject({ entry: first.entry });
    }
  });
});

describe('numbered pages of a history', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    for (let version = 1; version <= 5; version++) await app.put('/Basic/p', { code: { text: String(version) } });
  });
  afterAll(() => app.close());

  it.each(['/_history', '/fhir/Basic/_history', '/Basic/p/_history'])(
    'of %s together have all versions, the same total and links to their neighbors',
    async (path) => {
      const pageAt = async (page: number): Promise<History> =>
        bundleOf<Entry>(await app.get(`${path}?_count=2&_page=${page}`));
      const [first, second, third, fourth] = [await pageAt(1), await pageAt(2), await pageAt(3), await pageAt(4)];
      const whole = bundleOf<Entry>(await app.get(path));
      const versions = [...versionsOf([first, second, third]), ...versionsOf([fourth])];
      expect(versions.slice(0, 5)).toEqual(versionsOf([whole]).slice(0, 5));
      expect([second.total, second.entry.length]).toEqual([whole.total, 2]);
      expect(linkOf(second, 'self')).toBe(`${BASE_URL}${path}?_count=2&_page=2`);
      expect(linkOf(second, 'first')).toBe(`${BASE_URL}${path}?_count=2`);
      expect([linkOf(first, 'previous'), linkOf(first, 'first')]).toEqual([undefined, undefined]);
      expect(versionsOf([(await app.get(linkOf(second, 'previous') ?? '')).json()])).toEqual(versionsOf([first]));
      expect(versionsOf([(await app.get(linkOf(second, 'next') ?? '')).json()])).toEqual(versionsOf([third]));
    },
  );
});

describe('changes since a transaction (_txid)', () => {
  let app: TestApp;
  let client: Client;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
  });
  afterAll(() => app.close());

  const put = (id: string, text: string): Promise<unknown> => app.put(`/Basic/${id}`, { code: { text } });
  const read = async (url: string): Promise<{ versions: string[]; monitor: string }> => {
    const history = bundleOf<Entry>(await app.get(url));
    expect(history.total).toBe(history.entry.length);
    return { versions: versionsOf([history]), monitor: linkOf(history, 'monitor') ?? '' };
  };
  /**
   * Follows monitor links until one returns nothing new. Versions written during any open transaction, also of other
   * databases, are returned again.
   */
  const settled = (from: string): Promise<string> => {
    let url = from;
    return eventually('nothing is new', async () => {
      const { versions, monitor } = await read(url);
      url = monitor;
      return versions.length === 0 ? monitor : undefined;
    });
  };

  it.each([
    ['/fhir/_history', 'system'],
    ['/Basic/_history', 'type'],
    ['/Basic/resource/_history', 'resource'],
  ])('are found by the monitor link of %s, and nothing else', async (path, id) => {
    await put(id, 'known');
    const known = new URL(await settled('/Basic/_history?_txid=0')).searchParams.get('_txid') ?? '';
    const start = await settled(`${path}?_txid=${known}`);
    expect(start).toMatch(new RegExp(`^${BASE_URL}${path}\\?_txid=[\\dA-F-]+&_count=100$`));
    await put(id, 'news');
    await app.delete(`/Basic/${id}`);
    const news = await read(start);
    expect(news.versions).toEqual([`Basic/${id} 3`, `Basic/${id} 2`]);
    expect(await settled(news.monitor)).not.toBe('');
  });

  it('include a transaction that began earlier and commits later', async () => {
    const monitor = await settled('/Basic/_history?_txid=0');
    await client.query('begin');
    await client.query(
      `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       values (-1, now(), now() - interval '1 minute', -1, 1, 'Basic', 'slow', 'POST', '{"resourceType":"Basic","id":"slow"}')`,
    );
    await put('fast', '1');
    const between = await read(monitor);
    expect(between.versions).toEqual(['Basic/fast 1']);
    await client.query('commit');
    expect((await read(between.monitor)).versions).toContain('Basic/slow 1');
  });

  it('are paged without a gap, and only the first page has the monitor link', async () => {
    const monitor = await settled('/Basic/_history?_txid=0');
    for (let n = 1; n <= 5; n++) await put('paged', String(n));
    const pages = await followPages<Entry>(app, monitor.replace('_count=100', '_count=2'));
    expect(versionsOf(pages)).toEqual([5, 4, 3, 2, 1].map((n) => `Basic/paged ${n}`));
    expect(pages.map((page) => linkOf(page, 'monitor') !== undefined)).toEqual([true, false, false]);
  });

  it('are found by the transaction id that the database stores with each version', async () => {
    await put('kept', '1');
    await put('kept', '2');
    await app.delete('/Basic/kept');
    const { rows } = await client.query<{ version: number; later: boolean }>(
      `select version, transaction_id > lag(transaction_id, 1, '0'::xid8) over (order by version) as later
       from resource_history where id = 'kept' order by version`,
    );
    expect(rows).toEqual([1, 2, 3].map((version) => ({ version, later: true })));
  });
});

describe('the history during writes', () => {
  let app: TestApp;
  /** A time after the first start, at which the server stores its own resources. */
  let since: string;

  beforeAll(async () => {
    app = await startTestApp();
    since = new Date().toISOString();
    for (let n = 0; n < 60; n++) await app.put(`/Basic/h${n % 20}`, { code: { text: String(n) } });
  });
  afterAll(() => app.close());

  it.each(['/Basic/_history', '/fhir/_history', '/Basic/h1/_history'])(
    'has on the pages of %s each earlier version once',
    async (path) => {
      const before = versionsOf([bundleOf<Entry>(await app.get(`${path}?_since=${since}&_count=1000`))]);
      let isOver = false;
      let writes = 0;
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let n = 0; !isOver; n++, writes++) {
          const [id, step] = [`h${(n * 4 + writer) % 24}`, n % 5];
          if (step === 4) await app.delete(`/Basic/${id}`);
          else if (step === 3) await app.post('/Basic', { code: { text: 'new' } });
          else await app.put(`/Basic/${id}`, { code: { text: `${path} ${writer} ${n}` } });
        }
      });
      const listed = versionsOf(await followPages<Entry>(app, `${path}?_since=${since}&_count=3`));
      isOver = true;
      await Promise.all(writers);
      expect(writes).toBeGreaterThan(10);
      expect(new Set(listed).size).toBe(listed.length);
      const found = new Set(listed);
      expect(before.filter((version) => !found.has(version))).toEqual([]);
    },
  );
});
