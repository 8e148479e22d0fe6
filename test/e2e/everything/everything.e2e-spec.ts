import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { type Bundle, bundleOf, storeTogether } from '../../support/bundle';
import { loadChart, type LoadedChart } from '../../support/load-chart';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

const keysOf = ({ entry }: Bundle): string[] => entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`);

describe('Patient/$everything', () => {
  let app: TestApp;
  let charts: LoadedChart[];

  beforeAll(async () => {
    app = await startTestApp();
    charts = [await loadChart(app, { seed: 11, size: 150 }), await loadChart(app, { seed: 12, size: 60 })];
  }, 60_000);
  afterAll(() => app.close());

  const everything = async (patientId: string, query = ''): Promise<Bundle> => {
    const answer = await app.get(`/fhir/Patient/${patientId}/$everything${query}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/fhir+json; charset=utf-8']);
    return bundleOf(answer);
  };

  it('returns exactly the resources that the generator linked to the patient, each once', async () => {
    for (const { patientId, resources } of charts) {
      const bundle = await everything(patientId);
      const members = resources
        .filter(({ inPatientCompartment }) => inPatientCompartment)
        .map(({ resourceType, id }) => `${resourceType}/${id}`);
      expect(keysOf(bundle).sort()).toEqual(members.sort());
      expect(bundle.total).toBe(members.length);
    }
  });

  it('puts the patient first, then by type, newest first', async () => {
    const { patientId } = charts[0] ?? { patientId: '' };
    const { type, entry, link } = await everything(patientId);
    expect(type).toBe('searchset');
    expect(link).toEqual([{ relation: 'self', url: `${BASE_URL}/fhir/Patient/${patientId}/$everything` }]);
    expect(entry[0]).toMatchObject({ fullUrl: `${BASE_URL}/fhir/Patient/${patientId}`, search: { mode: 'match' } });
    const rest = entry.slice(1).map(({ resource }) => resource);
    expect(rest.map(({ resourceType }) => resourceType)).toEqual(rest.map(({ resourceType }) => resourceType).sort());
    for (const [index, { resourceType, meta }] of rest.entries()) {
      const before = rest[index - 1];
      if (before?.resourceType === resourceType) expect(before.meta.lastUpdated >= meta.lastUpdated).toBe(true);
    }
  });

  it('works on both roots and with the percent-encoded dollar', async () => {
    const { patientId } = charts[1] ?? { patientId: '' };
    const counts = await Promise.all(
      [
        `/fhir/Patient/${patientId}/$everything`,
        `/Patient/${patientId}/$everything`,
        `/Patient/${patientId}/%24everything`,
        `/Patient/${patientId}/$everything/`,
      ].map(async (path) => (await app.get(path)).json<Bundle>().total),
    );
    expect(new Set(counts).size).toBe(1);
  });

  it('returns SDCDocument and SDCWorkflow too', async () => {
    await app.put('/fhir/Patient/doc-patient', {});
    await app.put('/SDCDocument/doc-1', { status: 'draft', patient: { resourceType: 'Patient', id: 'doc-patient' } });
    await app.put('/SDCWorkflow/flow-1', {
      status: 'new',
      ctx: { patient: { resourceType: 'Patient', id: 'doc-patient' } },
    });
    await app.put('/fhir/Patient/twin', { link: [{ other: { reference: 'Patient/doc-patient' }, type: 'seealso' }] });
    expect(keysOf(await everything('doc-patient'))).toEqual([
      'Patient/doc-patient',
      'Patient/twin',
      'SDCDocument/doc-1',
      'SDCWorkflow/flow-1',
    ]);
  });

  it('returns a resource once if several parameters link it to the patient', async () => {
    await app.put('/fhir/Patient/twice', {});
    await app.put('/fhir/Observation/twice', {
      status: 'final',
      code: { text: 'x' },
      subject: { reference: 'Patient/twice' },
      performer: [{ reference: 'Patient/twice' }],
    });
    expect(keysOf(await everything('twice'))).toEqual(['Patient/twice', 'Observation/twice']);
  });

  describe('_since', () => {
    it('returns only later changes, including the patient', async () => {
      await app.put('/fhir/Patient/since', {});
      await app.put('/fhir/Observation/since-1', {
        status: 'final',
        code: { text: 'x' },
        subject: { reference: 'Patient/since' },
      });
      const { meta } = (
        await app.put('/fhir/Observation/since-2', {
          status: 'final',
          code: { text: 'x' },
          subject: { reference: 'Patient/since' },
        })
      ).json<{
        meta: { lastUpdated: string };
      }>();
      await app.put('/fhir/Observation/since-1', {
        status: 'amended',
        code: { text: 'x' },
        subject: { reference: 'Patient/since' },
      });
      const bundle = await everything('since', `?_since=${encodeURIComponent(meta.lastUpdated)}`);
      expect(keysOf(bundle)).toEqual(['Observation/since-1']);
      expect(bundle.link[0]?.url).toContain('_since=');
      expect(keysOf(await everything('since', '?_since=2999-01-01'))).toEqual([]);
      expect(keysOf(await everything('since', '?_since=2001-01-01T00:00:00%2B02:00'))).toHaveLength(3);
      expect(keysOf(await everything('since', '?_since=2001-01-01T00:00:00+02:00'))).toHaveLength(3);
    });
  });

  describe('_timeout', () => {
    it('is limited to the maximum, and the self link shows it', async () => {
      const { patientId } = charts[0] ?? { patientId: '' };
      expect((await everything(patientId, '?_timeout=100000')).link[0]?.url).toContain('_timeout=300');
      expect((await everything(patientId, '?_timeout=5')).link[0]?.url).toContain('_timeout=5');
    });

    it('ends a slow query with 504 and a remedy', async () => {
      const blocker = await app.connect();
      await blocker.query('begin; lock table reference_link in access exclusive mode');
      try {
        const { patientId } = charts[0] ?? { patientId: '' };
        const answer = await app.get(`/fhir/Patient/${patientId}/$everything?_timeout=1`);
        const { issue } = answer.json<{ issue: [{ code: string; diagnostics: string }] }>();
        expect([answer.status, issue[0].code]).toEqual([504, 'timeout']);
        expect(issue[0].diagnostics).toContain('_timeout');
      } finally {
        await blocker.query('rollback');
        await blocker.end();
      }
    });
  });

  describe('_type', () => {
    it('limits the types of the compartment; the Patient is included only if named', async () => {
      const { patientId } = charts[1] ?? { patientId: '' };
      const whole = keysOf(await everything(patientId));
      const narrowed = await everything(patientId, '?_type=Observation,Encounter');
      expect(keysOf(narrowed)).toEqual(whole.filter((key) => /^(Observation|Encounter)\//.test(key)));
      expect(narrowed.link[0]?.url).toContain('_type=Observation%2CEncounter');
      expect(keysOf(await everything(patientId, '?_type=Patient&_type=Encounter'))).toEqual(
        whole.filter((key) => /^(Patient|Encounter)\//.test(key)),
      );
    });
  });

  describe('start and end', () => {
    const store = async (type: string, id: string, more: object): Promise<void> => {
      const { status, text } = await app.put(`/fhir/${type}/${id}`, more);
      expect([status, status === 201 ? '' : text]).toEqual([201, '']);
    };
    const subject = { reference: 'Patient/dated' };
    const coded = (system: string, code: string): object => ({
      coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }],
    });
    beforeAll(async () => {
      await store('Patient', 'dated', { birthDate: '1950-01-01' });
      const observed = { status: 'final', code: { text: 'x' }, subject };
      await store('Observation', 'd-2019', { ...observed, effectiveDateTime: '2019-12-31' });
      await store('Observation', 'd-2020', { ...observed, effectiveDateTime: '2020-06-15T12:00:00Z' });
      await store('Observation', 'd-long', {
        ...observed,
        effectivePeriod: { start: '2019-06-01', end: '2021-06-01' },
      });
      await store('Observation', 'd-open', { ...observed, effectivePeriod: { start: '2021-01-01' } });
      await store('Observation', 'd-none', observed);
      const active = { subject, clinicalStatus: coded('condition-clinical', 'active') };
      await store('Condition', 'c-chronic', { ...active, onsetDateTime: '2010-01-01' });
      await store('Condition', 'c-new', { ...active, onsetDateTime: '2021-03-01' });
      const resolved = { subject, clinicalStatus: coded('condition-clinical', 'resolved') };
      await store('Condition', 'c-over', { ...resolved, onsetDateTime: '2010-01-01', abatementDateTime: '2015-05-05' });
      const allergic = { patient: subject, clinicalStatus: coded('allergyintolerance-clinical', 'active') };
      await store('AllergyIntolerance', 'a-1', { ...allergic, recordedDate: '2001-01-01' });
    }, 30_000);
    const ALWAYS = ['Patient/dated', 'AllergyIntolerance/a-1', 'Observation/d-none'];

    it.each([
      ['start=2020-01-01&end=2020-12-31', ['Condition/c-chronic', 'Observation/d-2020', 'Observation/d-long']],
      ['start=2019-12-31&end=2019-12-31', ['Condition/c-chronic', 'Observation/d-2019', 'Observation/d-long']],
      ['start=2021-03', ['Condition/c-chronic', 'Condition/c-new', 'Observation/d-long', 'Observation/d-open']],
      ['end=2015', ['Condition/c-chronic', 'Condition/c-over']],
      ['start=2021-07-01', ['Condition/c-chronic', 'Condition/c-new', 'Observation/d-open']],
    ])('%s finds resources that overlap the period, and those without a care date', async (query, found) => {
      expect(keysOf(await everything('dated', `?${query}`)).sort()).toEqual([...ALWAYS, ...found].sort());
    });
  });

  it('applies _elements and _summary', async () => {
    const { patientId } = charts[1] ?? { patientId: '' };
    const whole = await everything(patientId);
    const part = await everything(patientId, '?_elements=code,subject');
    expect(keysOf(part)).toEqual(keysOf(whole));
    expect(Object.keys(part.entry[0]?.resource ?? {}).sort()).toEqual(['id', 'meta', 'resourceType']);
    const count = await everything(patientId, '?_summary=count');
    expect([count.total, count.entry]).toEqual([whole.total, []]);
  });

  it('accepts its parameters in a Parameters resource', async () => {
    const parameter = [
      { name: '_type', valueCode: 'Encounter' },
      { name: '_type', valueCode: 'Patient' },
      { name: '_timeout', valueInteger: 5 },
    ];
    const { patientId } = charts[1] ?? { patientId: '' };
    const answer = await app.post(`/fhir/Patient/${patientId}/$everything`, { resourceType: 'Parameters', parameter });
    expect(answer.status).toBe(200);
    expect(keysOf(answer.json<Bundle>())).toEqual(keysOf(await everything(patientId, '?_type=Encounter,Patient')));
    const empty = await app.send('POST', `/Patient/${patientId}/$everything`);
    expect(empty.json<Bundle>().total).toBe((await everything(patientId)).total);
    for (const body of [
      '{',
      '{"resourceType":"Patient"}',
      '{"resourceType":"Parameters","parameter":[{"name":"_since"}]}',
    ])
      expect((await app.post(`/Patient/${patientId}/$everything`, body)).status).toBe(400);
  });

  it('names for each entry the parameters that link it to the patient', async () => {
    const search = (await everything('twice')).entry.map(({ search: one }) => one);
    const reason = (code: string): object => ({ url: 'urn:svc:compartment-parameter', valueCode: code });
    expect(search).toEqual([
      { extension: [reason('_id')], mode: 'match' },
      { extension: [reason('performer'), reason('subject')], mode: 'match' },
    ]);
  });

  it.each([
    ['_timeout=0', 400],
    ['_type=', 400],
    ['_type=Practitioner', 400],
    ['_type=NoSuch', 400],
    ['start=2020-13-01', 400],
    ['start=2021-01-01&end=2020-01-01', 400],
    ['start=2020&start=2021', 400],
    ['_summary=some', 400],
    ['_elements=code&_summary=true', 400],
    ['_timeout=-1', 400],
    ['_timeout=1.5', 400],
    ['_timeout=abc', 400],
    ['_timeout=', 400],
    ['_timeout=5&_timeout=6', 400],
    ['_since=yesterday', 400],
    ['_since=2023-02-30', 400],
    ['_unknown=1', 400],
  ])('refuses ?%s', async (query, status) => {
    const { patientId } = charts[0] ?? { patientId: '' };
    const refused = await app.get(`/fhir/Patient/${patientId}/$everything?${query}`);
    expect([refused.status, refused.json<{ resourceType: string }>().resourceType]).toEqual([
      status,
      'OperationOutcome',
    ]);
  });

  it('ignores an unknown parameter with handling=lenient', async () => {
    const { patientId } = charts[0] ?? { patientId: '' };
    const answer = await app.get(`/fhir/Patient/${patientId}/$everything?_unknown=1`, {
      headers: { Prefer: 'handling=lenient' },
    });
    expect(answer.status).toBe(200);
  });

  it('returns 404 for an unknown patient, 410 for a deleted one, 405 for a wrong method', async () => {
    await app.put('/fhir/Patient/was', {});
    await app.delete('/fhir/Patient/was');
    expect((await app.get('/fhir/Patient/never/$everything')).status).toBe(404);
    expect((await app.get('/fhir/Patient/was/$everything')).status).toBe(410);
    const wrong = await app.delete('/fhir/Patient/was/$everything');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  describe('the first chunk', () => {
    /** The statements in the transaction of a request, and the number of those that read links. */
    const statementsOf = async (path: string): Promise<{ sent: string[]; links: number }> => {
      const query = jest.spyOn(Client.prototype, 'query');
      try {
        expect((await app.get(path)).status).toBe(200);
        const calls = query.mock.calls.map(([sent], at) => ({
          text: typeof sent === 'string' ? sent : (sent as { text: string }).text,
          client: query.mock.contexts[at],
        }));
        const begin = calls.find(({ text }) => text.startsWith('BEGIN ISOLATION LEVEL REPEATABLE READ'));
        const sent = calls.slice(calls.indexOf(begin ?? { text: '', client: undefined }));
        return {
          sent: sent.filter(({ client }) => client === begin?.client).map(({ text }) => text),
          links: calls.filter(({ text }) => text.includes('reference_link')).length,
        };
      } finally {
        query.mockRestore();
      }
    };

    it('H5: contains a whole small compartment or complete page, read by one statement', async () => {
      const { patientId } = charts[0] ?? { patientId: '' };
      const queries = ['', '?_type=Observation', '?_since=2001', '?start=2001', '?_count=200', '?_format=ndjson'];
      for (const query of [...queries, '?_type=Account', '?_format=yaml']) {
        const { sent, links } = await statementsOf(`/fhir/Patient/${patientId}/$everything${query}`);
        expect([query, links, sent.slice(0, 4)]).toEqual([
          query,
          1,
          [
            'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
            expect.stringContaining('SET LOCAL statement_timeout'),
            expect.stringContaining('reference_link'),
            'COMMIT',
          ],
        ]);
      }
    });

    it('H5: is limited in bytes: a larger compartment is streamed', async () => {
      const filler = 'x'.repeat(50_000);
      const resource = { resourceType: 'Basic', code: { text: filler }, subject: { reference: 'Patient/middling' } };
      const entry = Array.from({ length: 50 }, () => ({ resource, request: { method: 'POST', url: 'Basic' } }));
      await app.put('/fhir/Patient/middling', {});
      await storeTogether(app, entry);
      const { text } = await app.get('/fhir/Patient/middling/$everything');
      expect([text.slice(-12), (JSON.parse(text) as Bundle).entry.length]).toEqual([',"total":51}', 51]);
    });
  });

  describe('the stored CompartmentDefinition', () => {
    it('can be read with the id patient, and has 66 linked types of R4 and two of the server', async () => {
      const { code, resource } = (await app.get('/fhir/CompartmentDefinition/patient')).json<{
        code: string;
        resource: { code: string; param?: string[] }[];
      }>();
      const linked = resource.filter(({ param = [] }) => param.length > 0).map(({ code: type }) => type);
      expect(code).toBe('Patient');
      expect(linked).toHaveLength(68);
      expect(linked).toEqual(expect.arrayContaining(['Observation', 'SDCDocument', 'SDCWorkflow']));
    });

    it('applies from the next call after a change', async () => {
      await app.put('/fhir/Patient/edited', {});
      await app.put('/fhir/Flag/edited', {
        status: 'active',
        code: { text: 'x' },
        subject: { reference: 'Patient/edited' },
      });
      const definition = (await app.get('/fhir/CompartmentDefinition/patient')).json<{
        resource: { code: string; param?: string[] }[];
      }>();
      const without = definition.resource.filter(({ code }) => code !== 'Flag');
      await app.put('/fhir/CompartmentDefinition/patient', { ...definition, resource: without });
      expect(keysOf(await everything('edited'))).toEqual(['Patient/edited']);
      await app.put('/fhir/CompartmentDefinition/patient', definition);
      expect(keysOf(await everything('edited'))).toEqual(['Patient/edited', 'Flag/edited']);
    });
  });
});
