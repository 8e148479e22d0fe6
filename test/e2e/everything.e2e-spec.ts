import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type Bundle } from '../support/bundle';
import { loadChart, type LoadedChart } from '../support/load-chart';
import { BASE_URL, startTestApp, type TestApp } from '../support/test-app';

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
    return answer.json<Bundle>();
  };

  it('returns exactly what the generator says belongs to the patient, each once', async () => {
    for (const { patientId, resources } of charts) {
      const bundle = await everything(patientId);
      const members = resources
        .filter(({ inPatientCompartment }) => inPatientCompartment)
        .map(({ resourceType, id }) => `${resourceType}/${id}`);
      expect(keysOf(bundle).sort()).toEqual(members.sort());
      expect(bundle.total).toBe(members.length);
    }
  });

  it('puts the patient first, then type by type, the newest first', async () => {
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

  it('answers on both roots and with the percent-encoded dollar', async () => {
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

  it('reads the server own documents by the compartment too', async () => {
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

  it('lists a resource once that several parameters link to the patient', async () => {
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
    it('returns only what changed strictly later, the patient included', async () => {
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
    it('is clamped to the largest that is allowed, and the self link shows it', async () => {
      const { patientId } = charts[0] ?? { patientId: '' };
      expect((await everything(patientId, '?_timeout=100000')).link[0]?.url).toContain('_timeout=300');
      expect((await everything(patientId, '?_timeout=5')).link[0]?.url).toContain('_timeout=5');
    });

    it('ends a query that takes too long with 504 and what to do', async () => {
      const blocker = new Client({ connectionString: app.databaseUrl });
      await blocker.connect();
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

  it.each([
    ['_timeout=0', 400],
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

  it('ignores an unknown parameter when asked to be lenient', async () => {
    const { patientId } = charts[0] ?? { patientId: '' };
    const answer = await app.get(`/fhir/Patient/${patientId}/$everything?_unknown=1`, {
      headers: { Prefer: 'handling=lenient' },
    });
    expect(answer.status).toBe(200);
  });

  it('answers 404 for an unknown patient, 410 for a deleted one, 405 for a wrong method', async () => {
    await app.put('/fhir/Patient/was', {});
    await app.delete('/fhir/Patient/was');
    expect((await app.get('/fhir/Patient/never/$everything')).status).toBe(404);
    expect((await app.get('/fhir/Patient/was/$everything')).status).toBe(410);
    const wrong = await app.delete('/fhir/Patient/was/$everything');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET']);
  });

  describe('the stored CompartmentDefinition', () => {
    it('is there to be read under the id patient, with 66 linked types of R4 and two of the server', async () => {
      const { code, resource } = (await app.get('/fhir/CompartmentDefinition/patient')).json<{
        code: string;
        resource: { code: string; param?: string[] }[];
      }>();
      const linked = resource.filter(({ param = [] }) => param.length > 0).map(({ code: type }) => type);
      expect(code).toBe('Patient');
      expect(linked).toHaveLength(68);
      expect(linked).toEqual(expect.arrayContaining(['Observation', 'SDCDocument', 'SDCWorkflow']));
    });

    it('is in force at the next call after an edit', async () => {
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
