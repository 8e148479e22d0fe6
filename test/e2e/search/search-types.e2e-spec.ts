import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type Bundle, bundleOf, followPages, nextOf, searchOn } from '../../support/bundle';
import { type Loaded, loadChart } from '../../support/load-chart';
import { login, type Person } from '../../../testing/world';
import { BASE_URL, ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

const TAG = { system: 'http://tags.example', code: 'round' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('a search over several types', () => {
  let app: TestApp;
  let database: Client;
  let all: Loaded[];
  let patientId: string;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
    const chart = await loadChart(app, { seed: 5, size: 150 });
    all = [...chart.resources];
    patientId = chart.patientId;
    // Tags every fifth resource, in another order than that of the first writes.
    for (const [index, one] of [...all.entries()].reverse()) {
      if (index % 5 > 0) continue;
      await app.put(`/fhir/${one.resourceType}/${one.id}`, { ...one.value, meta: { tag: [TAG] } });
    }
  }, 60_000);
  afterAll(() => app.close());

  const placesOf = ({ entry }: Bundle): string[] =>
    entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`);
  const search = (query: string, sent = {}): Promise<Bundle> => searchOn(app, `/fhir?${query}`, sent);
  const allPlaces = async (query: string): Promise<string[]> =>
    (await followPages(app, `/fhir?${query}`)).flatMap(placesOf);

  /** Brute force over the sent resources. */
  const expected = (holds: (one: Loaded, index: number) => boolean): string[] =>
    all
      .filter(holds)
      .map(({ resourceType, id }) => `${resourceType}/${id}`)
      .sort();
  const subjectOf = ({ value }: Loaded): string | undefined =>
    (value.subject as { reference?: string } | undefined)?.reference;

  it('finds and counts the matches of the named types', async () => {
    const types = ['Patient', 'Observation', 'Encounter', 'Goal'];
    const found = expected(({ resourceType }) => types.includes(resourceType));
    expect(found.length).toBeGreaterThan(20);
    expect((await allPlaces(`_type=${types.join(',')}&_count=7`)).sort()).toEqual(found);
    expect((await search(`_type=${types.join(',')}&_count=0`)).total).toBe(found.length);
    expect((await search(`_type=${types.join(',')}&_count=5`)).total).toBe(found.length);
    expect((await search(`_type=${types.join(',')}&_count=5&_total=none`)).total).toBeUndefined();
    expect(await search(`_type=${types.join(',')}&_summary=count`)).toMatchObject({ total: found.length, entry: [] });
  });

  it('finds a tag in all types', async () => {
    const tagged = expected((_one, index) => index % 5 === 0);
    expect(new Set(tagged.map((place) => place.split('/')[0])).size).toBeGreaterThan(5);
    const pages = await followPages(app, `/fhir?_tag=${TAG.system}%7C${TAG.code}&_count=6`);
    expect(pages.flatMap(placesOf).sort()).toEqual(tagged);
    expect(pages.map(({ total }) => total)).toEqual(pages.map(() => tagged.length));
  });

  it.each([
    ['', -1],
    ['&_sort=-_lastUpdated', -1],
    ['&_sort=_lastUpdated', 1],
  ])('has one order over all types%s', async (sort, sign) => {
    const pages = await followPages(app, `/fhir?_tag=round${sort}&_count=6`);
    const times = pages.flatMap(({ entry }) => entry.map(({ resource }) => resource.meta.lastUpdated));
    expect(times).toEqual([...times].sort((a, b) => sign * (a < b ? -1 : a > b ? 1 : 0)));
    expect(pages.length).toBeGreaterThan(3);
  });

  it('pages back over the same pages', async () => {
    const pages = await followPages(app, '/fhir?_tag=round&_count=6');
    for (let at = pages.length - 1; at > 0; at--) {
      const url = pages[at]?.link.find(({ relation }) => relation === 'previous')?.url ?? '';
      const before = (await app.get(url)).json<Bundle>();
      expect(placesOf(before)).toEqual(placesOf(pages[at - 1] ?? before));
    }
    expect(pages[0]?.link.map(({ relation }) => relation)).toEqual(['self', 'first', 'next']);
  });

  it('accepts parameters that the named types have in common', async () => {
    const types = ['Observation', 'Condition', 'Encounter'];
    const ofPatient = expected((one) => types.includes(one.resourceType) && subjectOf(one) === `Patient/${patientId}`);
    expect(ofPatient.length).toBeGreaterThan(10);
    expect((await allPlaces(`_type=${types.join(',')}&patient=${patientId}`)).sort()).toEqual(ofPatient);
    expect((await allPlaces(`_type=${types.join(',')}&patient=${patientId}&_tag=round&_count=3`)).sort()).toEqual(
      expected(
        (one, index) =>
          index % 5 === 0 && types.includes(one.resourceType) && subjectOf(one) === `Patient/${patientId}`,
      ),
    );
  });

  it('finds by id, time and words in any type', async () => {
    const [some, other] = [all[3], all.at(-1)];
    expect((await allPlaces(`_id=${some?.id ?? ''},${other?.id ?? ''}`)).sort()).toEqual(
      expected(({ id }) => id === some?.id || id === other?.id),
    );
    const { entry } = await search('_tag=round&_count=4');
    const last = entry[3]?.resource.meta.lastUpdated ?? '';
    expect(await allPlaces(`_lastUpdated=ge${last}&_tag=round`)).toEqual(
      entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`),
    );
    expect((await search('_lastUpdated=gt2100-01-01')).total).toBe(0);
    await app.put('/fhir/List/words', {
      resourceType: 'List',
      status: 'current',
      mode: 'working',
      title: 'Xylophones',
      entry: [{ item: { reference: `Patient/${patientId}` } }, { item: { reference: 'Observation/none' } }],
    });
    expect(await allPlaces('_content=xylophones')).toEqual(['List/words']);
    expect(await allPlaces('_list=words')).toEqual([`Patient/${patientId}`]);
    expect(await allPlaces('_has:List:item:_id=words')).toEqual([`Patient/${patientId}`]);
  });

  it('supports _include, _elements and links', async () => {
    const bundle = await search('_type=Encounter,Condition&_include=*&_count=3&_elements=id');
    expect(bundle.entry.filter(({ search: { mode } }) => mode === 'include').map(({ fullUrl }) => fullUrl)).toContain(
      `${BASE_URL}/fhir/Patient/${patientId}`,
    );
    expect(bundle.link[0]?.url).toBe(`${BASE_URL}/fhir?_type=Encounter%2CCondition&_include=*&_elements=id&_count=3`);
    expect(nextOf(bundle)).toContain('&_after=');
    expect(bundle.entry[0]?.resource).not.toHaveProperty('subject');
  });

  it('supports _result=array and _timeout', async () => {
    const query = '/fhir?_type=Patient,Encounter&_count=3&_timeout=20';
    const bundle = (await app.get(query)).json<Bundle>();
    const answer = await app.get(`${query}&_result=array`);
    expect(answer.json<{ id: string }[]>().map(({ id }) => id)).toEqual(
      bundle.entry.map(({ resource }) => resource.id),
    );
    expect(answer.headers.get('link')).toContain('rel="next"');
    expect(nextOf(bundle)).toContain('_timeout=20');
  });

  it('returns the same for a form, on each root, in a batch and for its own links', async () => {
    const body = new URLSearchParams({ _type: 'Observation', _tag: 'round' }).toString();
    const [byQuery, byForm, byRoot] = [
      await search('_type=Observation&_tag=round'),
      bundleOf(await app.send('POST', '/fhir/_search', { body, headers: FORM })),
      bundleOf(await app.send('POST', '/_search?_count=5', { body, headers: FORM })),
    ];
    expect(placesOf(byQuery)).not.toEqual([]);
    expect(placesOf(byForm)).toEqual(placesOf(byQuery));
    expect(placesOf(byRoot)).toEqual(placesOf(byQuery).slice(0, 5));
    expect((await app.get('/?_type=Observation&_tag=round')).json<Bundle>().link[0]?.url).toMatch(
      /^http:\/\/svc.example\?/,
    );
    const batch = await app.post('/fhir', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'GET', url: '?_type=Observation&_tag=round' } }],
    });
    const [answer] = batch.json<{ entry: { resource: Bundle }[] }>().entry;
    expect(placesOf(answer?.resource ?? byForm)).toEqual(placesOf(byQuery));
  });

  it('neither repeats nor loses unchanged resources during writes', async () => {
    const url = '/fhir?_type=Observation,Encounter&_count=5';
    const before = (await followPages(app, url)).flatMap(placesOf);
    const first = (await app.get(url)).json<Bundle>();
    const [removed, changed] = [before[7] ?? '', before[9] ?? ''];
    const text = (await app.get(`/fhir/${changed}`)).json();
    await app.delete(`/fhir/${removed}`);
    await app.put(`/fhir/${changed}`, { ...text, language: 'de' });
    const rest = (await followPages(app, nextOf(first))).flatMap(placesOf);
    expect([...placesOf(first), ...rest]).toEqual(before.filter((place) => place !== removed && place !== changed));
  });

  it.each([
    ['', 'needs a parameter'],
    ['_type=', 'needs a parameter'],
    ['_type=Spaceship', '_type'],
    ['_type=Patient,Observation&gender=male', 'Observation has no search parameter'],
    ['gender=male', 'name the types'],
    ['_filter=gender eq male', 'name the types'],
    ['_tga=x', '_tga'],
    ['_type=Patient&_sort=name', '_sort'],
    ['_type=Patient&_explain=1', '_explain'],
    ['_type=Patient&_count=x', '_count'],
    ['_type=Patient&_sort=_lastUpdated&_sort=-_lastUpdated', '_sort is given twice'],
    ['_type=Patient&_page=2', '_page'],
    ['_type=Patient&_timeout=0', '_timeout'],
    ['_type=Patient&_result=array&_count=0', '_result'],
    ['_lastUpdated=yesterday', '_lastUpdated'],
    ['_type=Patient&_after=AAAA', '_after'],
    ['_type=Patient&_include=Patient:gender', 'Patient.gender'],
  ])('refuses "%s" with 400 and the reason', async (query, said) => {
    const answer = await app.get(`/fhir?${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(said)]);
  });

  it('ignores a parameter that one of the types lacks with handling=lenient, for all types', async () => {
    const bundle = await search('_type=Patient,Observation&gender=male&_tag=round&_count=2', {
      headers: { Prefer: 'handling=lenient' },
    });
    expect(bundle.link[0]?.url).toBe(`${BASE_URL}/fhir?_type=Patient%2CObservation&_tag=round&_count=2`);
    expect(bundle.total).toBe((await search('_type=Patient,Observation&_tag=round&_count=0')).total);
  });

  describe('while SQL deletes rows of a page that is sent', () => {
    // Two texts are read at once, and most of them do not fit into the buffers of the connection.
    const [stored, bytes] = [380, 40_000];
    const idsOf = (deleted: readonly string[]): string[] =>
      Array.from({ length: stored }, (_, n) => `b${n}`).filter((id) => !deleted.includes(id));

    beforeAll(async () => {
      const binary = { resourceType: 'Binary', contentType: 'text/plain', data: 'A'.repeat(bytes) };
      for (const id of idsOf([])) await app.put(`/fhir/Binary/${id}`, { ...binary, id });
    }, 60_000);

    it.each([
      ['/fhir?_type=Binary,Slot', ['b370']],
      ['/fhir/Binary?', ['b370', 'b360']],
      ['/fhir/Binary?_result=array', ['b370', 'b360', 'b350', 'b351']],
    ])('leaves them out: %s', async (path, deleted) => {
      const url = `${app.url}${path}&_sort=_lastUpdated&_count=${stored}`;
      const response = await fetch(url, { headers: { authorization: ROOT } });
      await database.query(`delete from resource where type = 'Binary' and id = any($1)`, [deleted]);
      const page = (await response.json()) as Bundle | Bundle['entry'][number]['resource'][];
      const found = Array.isArray(page)
        ? page.map(({ id }) => [id])
        : page.entry.map(({ fullUrl, resource }) => [resource.id, fullUrl]);
      expect(found).toEqual(
        idsOf(deleted).map((id) => (Array.isArray(page) ? [id] : [id, `${BASE_URL}/fhir/Binary/${id}`])),
      );
    });
  });

  describe('requires a separate right', () => {
    let person: Person;
    beforeAll(async () => {
      person = await login(app, 'reader', { policies: [] });
    });
    const statuses = async (): Promise<number[]> => {
      const sent = { authorization: person.bearer };
      const form = { ...sent, body: '_type=Patient', headers: FORM };
      return [
        (await app.get('/fhir?_type=Patient', sent)).status,
        (await app.get('/?_type=Patient', sent)).status,
        (await app.send('POST', '/fhir/_search', form)).status,
        (await app.send('POST', '/_search', form)).status,
      ];
    };
    const grant = (id: string): Promise<unknown> =>
      app.put('/AccessPolicy/of-search', { engine: 'allow', link: [{ resourceType: 'Operation', id }] });

    it('which FhirSearch does not grant', async () => {
      await grant('FhirSearch');
      expect((await app.get('/fhir/Patient', { authorization: person.bearer })).status).toBe(200);
      expect(await statuses()).toEqual([403, 403, 403, 403]);
    });

    it('which FhirSearchSystem grants', async () => {
      await grant('FhirSearchSystem');
      expect(await statuses()).toEqual([200, 200, 200, 200]);
      expect((await app.get('/fhir?_type=Patient', { authorization: null })).status).toBe(401);
    });
  });
});
