import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, followPages, idsOf, searchOn } from '../../support/bundle';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

interface Outcome {
  readonly issue: readonly { readonly code: string; readonly diagnostics: string }[];
}

/** Seven patients in the order of their birth dates, all of one practice. */
const PATIENTS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6'];

describe('The response to a search', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_SEARCH_TIMEOUT_MAX_SECONDS: '7' } });
    await app.put('/fhir/Organization/practice', { resourceType: 'Organization', id: 'practice', name: 'Practice' });
    for (const [index, id] of PATIENTS.entries()) {
      const birthDate = `200${index}-01-01`;
      const managingOrganization = { reference: 'Organization/practice' };
      await app.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id, birthDate, managingOrganization });
    }
  });
  afterAll(() => app.close());

  const search = (path: string): Promise<Bundle> => searchOn(app, path);
  const linksOf = ({ link }: Bundle): Record<string, string | null> =>
    Object.fromEntries(link.map(({ relation, url }) => [relation, new URL(url).searchParams.get('_page')]));

  describe('with _page', () => {
    it('has the page of that number, with links by numbers', async () => {
      const bundle = await search('/fhir/Patient?_sort=birthdate&_count=3&_page=2');
      expect([idsOf(bundle), bundle.total, linksOf(bundle)]).toEqual([
        ['p3', 'p4', 'p5'],
        7,
        { self: '2', first: '1', previous: '1', next: '3', last: '3' },
      ]);
      const last = await search('/fhir/Patient?_sort=birthdate&_count=3&_page=3');
      expect([idsOf(last), linksOf(last)]).toEqual([['p6'], { self: '3', first: '1', previous: '2', last: '3' }]);
    });

    it.each([
      '',
      '_sort=_lastUpdated&',
      '_sort=_id&',
      '_sort=-birthdate&',
      'birthdate=ge2000&',
      'organization=practice&',
    ])('has each match once over all pages: %s', async (query) => {
      const pages = await followPages(app, `/fhir/Patient?${query}_count=2&_page=1`);
      const whole = await search(`/fhir/Patient?${query}_count=100`);
      expect(pages.map(idsOf).flat()).toEqual(idsOf(whole));
      expect(pages).toHaveLength(4);
    });

    it('is empty after the last page, and links back to it', async () => {
      const bundle = await search('/fhir/Patient?_count=3&_page=9');
      expect([idsOf(bundle), bundle.total, linksOf(bundle)]).toEqual([
        [],
        7,
        { self: '9', first: '1', previous: '3', last: '3' },
      ]);
    });

    it('omits the total with _total=none', async () => {
      const bundle = await search('/fhir/Patient?_count=3&_page=2&_total=none');
      expect([bundle.total, linksOf(bundle)]).toEqual([undefined, { self: '2', first: '1', previous: '1', next: '3' }]);
    });

    it('continues by position after the last number', async () => {
      const { link } = await search('/fhir/Patient?_count=1000&_page=10');
      expect(link.map(({ relation }) => relation)).toEqual(['self', 'first', 'previous', 'last']);
      const refused = await app.get('/fhir/Patient?_count=1000&_page=11');
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('follow the \\"next\\" link')]);
    });

    it('has links without numbers if no number was requested', async () => {
      const { link } = await search('/fhir/Patient?_count=3');
      expect(link.map(({ relation, url }) => [relation, new URL(url).searchParams.has('_page')])).toEqual([
        ['self', false],
        ['first', false],
        ['next', false],
      ]);
    });
  });

  describe('with _result=array', () => {
    it('is an array of matches and included resources', async () => {
      const answer = await app.get(
        '/fhir/Patient?_sort=birthdate&_count=2&_result=array&_include=Patient:organization&_elements=birthDate',
      );
      const array = answer.json<{ resourceType: string; id: string; managingOrganization?: object }[]>();
      expect([answer.status, array.map(({ id }) => id), array[0]?.managingOrganization]).toEqual([
        200,
        ['p0', 'p1', 'practice'],
        undefined,
      ]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
    });

    it.each(['_count=3&_result=array', '_count=3&_result=array&_page=1'])(
      'is paged by the Link header: %s',
      async (query) => {
        const ids: string[] = [];
        let next: string | undefined = `/fhir/Patient?_sort=birthdate&${query}`;
        let pages = 0;
        while (next !== undefined) {
          const answer: Received = await app.get(next);
          ids.push(...answer.json<{ id: string }[]>().map(({ id }) => id));
          next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
          pages++;
        }
        expect([ids, pages]).toEqual([PATIENTS, 3]);
      },
    );

    it('is an empty array if nothing matches', async () => {
      expect((await app.get('/fhir/Patient?_id=nobody&_result=array')).text).toBe('[]');
    });
  });

  describe('with _timeout', () => {
    const timesOut = async (lock: string, path: string): Promise<void> => {
      const holder = await app.connect();
      try {
        await holder.query(`begin; lock table ${lock} in access exclusive mode`);
        const answer = await app.get(path);
        const { issue } = answer.json<Partial<Outcome>>();
        expect([answer.status, issue?.[0]]).toEqual([
          504,
          expect.objectContaining({ code: 'timeout', diagnostics: expect.stringContaining('longer than 1 s') }),
        ]);
      } finally {
        await holder.end();
      }
    };

    it('is canceled if its page takes longer', () => timesOut('search_string', '/fhir/Patient?_timeout=1&name=a'));

    it('is canceled if its includes take longer', () =>
      timesOut('reference_link', '/fhir/Patient?_timeout=1&_include=Patient:organization'));

    it('is returned if there is enough time', async () => {
      const bundle = await search('/fhir/Patient?_timeout=5&_include=Patient:organization&_count=3&birthdate=ge2001');
      expect([bundle.total, bundle.entry.length]).toEqual([6, 4]);
    });

    it('is limited to the maximum, and the self link shows it', async () => {
      const { link } = await search('/fhir/Patient?_timeout=100');
      expect(new URL(link[0]?.url ?? '').searchParams.get('_timeout')).toBe('7');
    });

    it('includes the writes of its own transaction', async () => {
      const bundle = {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          {
            resource: { resourceType: 'Basic', id: 'own', code: { text: 'own' } },
            request: { method: 'PUT', url: 'Basic/own' },
          },
          { request: { method: 'GET', url: 'Basic?_id=own&_timeout=5' } },
        ],
      };
      const answer = await app.post('/fhir', bundle);
      const { entry } = answer.json<{ entry: readonly { resource?: { total: number } }[] }>();
      expect([answer.status, entry[1]?.resource?.total]).toEqual([200, 1]);
    });
  });

  it.each([
    ['_page=0', '_page'],
    ['_page=-1', '_page'],
    ['_page=1.5', '_page'],
    ['_page=two', '_page'],
    ['_result=bundle', '_result'],
    ['_result=array&_summary=count', '_result'],
    ['_result=array&_count=0', '_result'],
    ['_result=array&_explain=1', '_result'],
    ['_timeout=0', '_timeout'],
    ['_timeout=-1', '_timeout'],
    ['_timeout=0.5', '_timeout'],
    ['_timeout=soon', '_timeout'],
  ])('refuses %s', async (query, named) => {
    const answer = await app.get(`/fhir/Patient?${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(named)]);
  });

  it('refuses _page with a position', async () => {
    const { link } = await search('/fhir/Patient?_count=3');
    const next = link.find(({ relation }) => relation === 'next')?.url ?? '';
    const answer = await app.get(`${next}&_page=2`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('exclude each other')]);
  });

  it.each(['_page=1', '_result=array', '_timeout=5'])(
    'refuses %s as the only criterion of a conditional write',
    async (word) => {
      const answer = await app.put(`/fhir/Patient?${word}`, { resourceType: 'Patient' });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('shapes answers')]);
    },
  );
});
