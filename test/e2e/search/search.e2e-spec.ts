import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, followPages, idsOf, nextOf, searchOn } from '../../support/bundle';
import { type Loaded, loadChart, type LoadedChart } from '../../support/load-chart';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

interface Coding {
  readonly system?: string;
  readonly code?: string;
}

const codingsOf = (concept: unknown): readonly Coding[] =>
  (Array.isArray(concept) ? concept : [concept]).flatMap(
    (one) => (one as { coding?: Coding[] } | undefined)?.coding ?? [],
  );
const referenceOf = (value: unknown): string | undefined => (value as { reference?: string } | undefined)?.reference;

describe('search', () => {
  let app: TestApp;
  let charts: LoadedChart[];
  let all: Loaded[];

  beforeAll(async () => {
    app = await startTestApp();
    charts = [await loadChart(app, { seed: 1, size: 120 }), await loadChart(app, { seed: 2, size: 120 })];
    all = charts.flatMap(({ resources }) => resources);
  }, 60_000);
  afterAll(() => app.close());

  const search = (query: string, sent = {}): Promise<Bundle> => searchOn(app, `/fhir/${query}`, sent);

  /** Brute force over the sent resources. */
  const expected = (type: string, holds: (value: Record<string, unknown>) => boolean): string[] =>
    all
      .filter(({ resourceType, value }) => resourceType === type && holds(value))
      .map(({ id }) => id)
      .sort();

  const allIds = async (query: string): Promise<string[]> =>
    (await followPages(app, `/fhir/${query}`)).flatMap(idsOf).sort();

  it('returns a searchset with fullUrl, mode, total and the self link', async () => {
    const patientId = charts[0]?.patientId ?? '';
    const bundle = await search(`Patient?_id=${patientId}`);
    expect(bundle).toMatchObject({
      type: 'searchset',
      total: 1,
      link: ['self', 'first'].map((relation) => ({
        relation,
        url: `${BASE_URL}/fhir/Patient?_id=${patientId}&_count=100`,
      })),
      entry: [
        { fullUrl: `${BASE_URL}/fhir/Patient/${patientId}`, resource: { id: patientId }, search: { mode: 'match' } },
      ],
    });
  });

  it('finds exactly what brute force finds, by reference', async () => {
    for (const { patientId } of charts) {
      const subject = `Patient/${patientId}`;
      const observations = expected('Observation', (value) => referenceOf(value.subject) === subject);
      expect(observations.length).toBeGreaterThan(5);
      for (const query of [
        `subject=${subject}`,
        `subject:Patient=${patientId}`,
        `patient=${patientId}`,
        `patient=${subject}`,
        `subject=${BASE_URL}/fhir/${subject}`,
      ]) {
        expect([query, await allIds(`Observation?${query}`)]).toEqual([query, observations]);
      }
    }
    const encounters = [
      ...new Set(all.map(({ value }) => referenceOf(value.encounter)).filter((reference) => reference !== undefined)),
    ];
    for (const encounter of encounters) {
      expect(await allIds(`Observation?encounter=${encounter}`)).toEqual(
        expected('Observation', (value) => referenceOf(value.encounter) === encounter),
      );
    }
  });

  it('finds exactly what brute force finds, by every code', async () => {
    const codes = new Map(
      all
        .filter(({ resourceType }) => resourceType === 'Observation')
        .flatMap(({ value }) => codingsOf(value.code))
        .map((coding) => [coding.code, coding]),
    );
    expect(codes.size).toBeGreaterThan(5);
    for (const { system, code } of codes.values()) {
      const having = expected('Observation', (value) => codingsOf(value.code).some((coding) => coding.code === code));
      expect(await allIds(`Observation?code=${code ?? ''}`)).toEqual(having);
      expect(await allIds(`Observation?code=${encodeURIComponent(`${system ?? ''}|${code ?? ''}`)}`)).toEqual(having);
      expect(await allIds(`Observation?code=${encodeURIComponent(`http://svc.example/other|${code ?? ''}`)}`)).toEqual(
        [],
      );
      expect(await allIds(`Observation?code=${encodeURIComponent(`|${code ?? ''}`)}`)).toEqual([]);
    }
  });

  it('treats commas as OR and repetitions as AND', async () => {
    const subject = `Patient/${charts[0]?.patientId ?? ''}`;
    const [first, second] = [...new Set(all.flatMap(({ value }) => codingsOf(value.code)).map(({ code }) => code))];
    const hasOne = (value: Record<string, unknown>): boolean =>
      codingsOf(value.code).some(({ code }) => code === first || code === second);
    expect(await allIds(`Observation?code=${first ?? ''},${second ?? ''}`)).toEqual(expected('Observation', hasOne));
    const vitals = expected(
      'Observation',
      (value) =>
        codingsOf(value.category).some(({ code }) => code === 'vital-signs') && referenceOf(value.subject) === subject,
    );
    expect(await allIds(`Observation?category=vital-signs&subject=${subject}`)).toEqual(vitals);
    expect(
      await allIds(`Observation?category=vital-signs,laboratory&subject=${subject}&status=final&category=vital-signs`),
    ).toEqual(vitals);
    expect(await allIds(`Observation?category=vital-signs&category=laboratory`)).toEqual([]);
    expect(await allIds(`Observation?category=vital-signs&_lastUpdated=gt2020-01-01&subject=${subject}`)).toEqual(
      vitals,
    );
  });

  it.each(['', '-'])(
    'sorts resources with one code by %svalue-quantity as brute force does, without a value last',
    async (sign) => {
      const quantities = new Map(
        all.map(({ id, value }) => [id, (value.valueQuantity as { value?: number } | undefined)?.value]),
      );
      const codes = new Set(all.flatMap(({ value }) => codingsOf(value.code)).map(({ code }) => code));
      // Stores a resource with a unique value, and one with the same code but without a value.
      const measured = all.find(({ value }) => value.valueQuantity !== undefined)?.value;
      const bare = { ...measured, id: undefined, meta: undefined, valueQuantity: undefined };
      const { id } = (await app.post('/fhir/Observation', bare)).json<{ id: string }>();
      for (const code of codes) {
        const having = expected('Observation', (one) => codingsOf(one.code).some((coding) => coding.code === code));
        const isBare = codingsOf(measured?.code).some((coding) => coding.code === code);
        const pages = await followPages(
          app,
          `/fhir/Observation?code=${code ?? ''}&_sort=${sign}value-quantity&_count=4`,
        );
        const found = pages.flatMap(idsOf);
        expect([...found].sort()).toEqual([...having, ...(isBare ? [id] : [])].sort());
        const values = found.map((one) => quantities.get(one));
        const known = values.filter((one) => one !== undefined);
        const sorted = [...known].sort((one, other) => (sign === '' ? one - other : other - one));
        expect(values).toEqual([...sorted, ...values.slice(known.length).map(() => undefined)]);
      }
      await app.delete(`/fhir/Observation/${id}`);
    },
  );

  it('pages in a stable order without gap or repetition, with the same total on every page', async () => {
    const whole = idsOf(await search('Observation?_count=1000'));
    for (const count of [1, 7, 50]) {
      const pages = await followPages(app, `/fhir/Observation?_count=${count}&status=final`);
      const ids = pages.flatMap(idsOf);
      const totals = new Set(pages.map(({ total }) => total));
      const final = expected('Observation', (value) => value.status === 'final');
      expect([...ids].sort()).toEqual(final);
      expect(ids).toEqual(whole.filter((id) => final.includes(id)));
      expect([...totals]).toEqual([final.length]);
    }
  });

  it('keeps its pages right while resources change and are added', async () => {
    const before = await allIds('Condition?_count=1000');
    const first = await search('Condition?_count=2');
    const seen = idsOf(first);
    const [changed] = before.filter((id) => !seen.includes(id));
    const resource = all.find(({ id }) => id === changed);
    await app.put(`/fhir/Condition/${changed ?? ''}`, { ...resource?.value, language: 'en' });
    const rest = await followPages(app, nextOf(first));
    expect([...seen, ...rest.flatMap(idsOf)].sort()).toEqual(before);
  });

  it('follows an update at once: finds by new values, and not by old ones', async () => {
    await app.put('/fhir/Observation/moving', {
      status: 'preliminary',
      code: { coding: [{ system: 'http://loinc.org', code: 'moving-1' }] },
      subject: { reference: 'Patient/a' },
      effectiveDateTime: '2020-01-01',
    });
    await app.put('/fhir/Observation/moving', {
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: 'moving-2' }] },
      subject: { reference: 'Patient/b' },
      effectiveDateTime: '2021-01-01',
    });
    expect(await allIds('Observation?code=moving-1')).toEqual([]);
    expect(await allIds('Observation?code=moving-2&subject=Patient/b&status=final')).toEqual(['moving']);
    expect(await allIds('Observation?subject=Patient/a')).toEqual([]);
    await app.delete('/fhir/Observation/moving');
    expect(await allIds('Observation?code=moving-2')).toEqual([]);
    await app.put('/fhir/Observation/moving', { status: 'final', code: { coding: [{ code: 'moving-3' }] } });
    expect(await allIds('Observation?code=moving-3')).toEqual(['moving']);
    expect(await allIds('Observation?code=%7Cmoving-3')).toEqual(['moving']);
    await app.delete('/fhir/Observation/moving');
  });

  it('sorts a resource by its creation time after an update removed its clinical date', async () => {
    const put = (id: string, start?: string): Promise<unknown> =>
      app.put(`/fhir/Flag/${id}`, {
        ...{ status: 'active', code: { text: 'Falls' }, subject: { reference: 'Patient/a' } },
        ...(start === undefined ? {} : { period: { start } }),
      });
    const sorted = async (): Promise<string[]> => idsOf(await search('Flag?subject=Patient/a'));
    await put('moved', '2020-01-01');
    await put('kept', '2021-01-01');
    expect(await sorted()).toEqual(['kept', 'moved']);
    await put('moved');
    expect(await sorted()).toEqual(['moved', 'kept']);
    await put('moved', '2019-01-01');
    expect(await sorted()).toEqual(['kept', 'moved']);
    // A resource that was deleted keeps the time of its creation.
    await put('later');
    await app.delete('/fhir/Flag/moved');
    await put('moved');
    expect(await sorted()).toEqual(['later', 'moved', 'kept']);
  });

  it('finds by _id and by _lastUpdated with all prefixes', async () => {
    const [one, two] = expected('Condition', () => true);
    expect(await allIds(`Condition?_id=${one ?? ''},${two ?? ''},unknown`)).toEqual([one, two]);
    await app.put('/fhir/Basic/late', { code: { text: 'late' } });
    const { meta } = (await app.get('/fhir/Basic/late')).json<{ meta: { lastUpdated: string } }>();
    const at = encodeURIComponent(meta.lastUpdated);
    for (const [prefix, found] of [
      ['', true],
      ['eq', true],
      ['ge', true],
      ['le', true],
      ['gt', false],
      ['lt', false],
      ['sa', false],
      ['eb', false],
    ] as const) {
      expect([prefix, (await allIds(`Basic?_lastUpdated=${prefix}${at}`)).includes('late')]).toEqual([prefix, found]);
    }
    expect(await allIds(`Basic?_lastUpdated=${meta.lastUpdated.slice(0, 10)}`)).toEqual(['late']);
    expect(await allIds('Basic?_lastUpdated=gt2999')).toEqual([]);
  });

  it('returns only the total with _count=0, omits it with _total=none, and limits a huge _count', async () => {
    const observations = expected('Observation', () => true).length;
    expect(await search('Observation?_count=0')).toMatchObject({ total: observations });
    const withoutTotal = await search('Observation?_count=2&_total=none');
    expect(withoutTotal.total).toBeUndefined();
    expect(nextOf(withoutTotal)).toContain('_total=none');
    expect((await search('Observation?_count=99999')).link[0]?.url).toContain('_count=1000');
  });

  it('accepts a form, so that values are not in the URL', async () => {
    const patientId = charts[0]?.patientId ?? '';
    const answer = await app.post('/fhir/Patient/_search', `_id=${patientId}`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, idsOf(answer.json<Bundle>())]).toEqual([200, [patientId]]);
  });

  it('finds native types by their references', async () => {
    await app.put('/SDCDocument/found', { status: 'draft', patient: { resourceType: 'Patient', id: 'p-native' } });
    expect(await allIds('SDCDocument?patient=p-native')).toEqual(['found']);
    expect(await allIds('SDCDocument?patient=Patient/p-native&status=draft')).toEqual(['found']);
  });

  it.each([
    ['an unknown parameter', 'Patient?nmae=x', 'Patient has no search parameter "nmae". Did you mean "name"?'],
    [
      'an unknown modifier',
      'Patient?gender:nonsense=male',
      '"gender:nonsense" has a modifier that its kind of parameter does not take; known: :not, :i, :text, :in, :not-in, :of-type, :missing.',
    ],
    ['a second _sort', 'Patient?_sort=_id&_sort=birthdate', '_sort is given twice. Send it once.'],
    ['a second _count', 'Patient?_count=1&_count=2', '_count is given twice. Send it once.'],
    ['a bad _count', 'Patient?_count=-1', '_count must be a whole number such as 20.'],
    ['a bad _total', 'Patient?_total=all', '_total must be accurate, estimate or none.'],
    [
      'a bad _lastUpdated',
      'Patient?_lastUpdated=yesterday',
      '"_lastUpdated" takes a date or time such as gt2026-01-31T10:00:00Z.',
    ],
    [
      'a bad _after',
      'Patient?_after=1%27%3Bdrop',
      '_after is made by the server for its links to other pages; begin again at the first page.',
    ],
    [
      'an invalid reference',
      'Observation?subject=a%20b',
      '"Observation.subject" takes a reference such as Patient/p7.',
    ],
    [
      'too many parameters',
      `Patient?${Array.from({ length: 33 }, () => 'gender=male').join('&')}`,
      'A search takes at most 32 parameters.',
    ],
  ])('refuses %s with 400 and a remedy', async (_name, query, diagnostics) => {
    const refused = await app.get(`/fhir/${query}`);
    expect([refused.status, refused.json<{ issue: [{ diagnostics: string }] }>().issue[0].diagnostics]).toEqual([
      400,
      diagnostics,
    ]);
  });

  it('ignores an unknown parameter with handling=lenient, and the self link shows the used ones', async () => {
    const patientId = charts[0]?.patientId ?? '';
    const bundle = await search(`Patient?nmae=x&_id=${patientId}`, { headers: { Prefer: 'handling=lenient' } });
    expect(bundle.link[0]?.url).toBe(`${BASE_URL}/fhir/Patient?_id=${patientId}&_count=100`);
  });

  it('answers extreme dates and strings without an error', async () => {
    for (const range of ['gt9999', 'lt0001', 'ge0001-01-01', 'le9999-12-31']) {
      expect([range, (await app.get(`/fhir/Basic?_lastUpdated=${range}`)).status]).toEqual([range, 200]);
    }
    for (const query of [
      '_id=%00',
      '_id=a%00b',
      '_after=zzzzzzzzzzz.1',
      '_after=-zzzzzzzzzzz.1',
      '_after=1.zzzzzzzzzzz',
    ]) {
      expect([query, (await app.get(`/fhir/Basic?${query}`)).status]).toEqual([query, 400]);
    }
    expect((await app.get(`/fhir/Basic?_id=${'a'.repeat(7_000)}`)).json<Bundle>().total).toBe(0);
  });

  it('treats SQL and wildcards in values as text', async () => {
    for (const value of ["' or 1=1 --", '%', '_', '\\', '$1', '*']) {
      expect(await allIds(`Observation?code=${encodeURIComponent(value)}`)).toEqual([]);
    }
  });
});
