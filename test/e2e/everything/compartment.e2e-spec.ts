import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

interface Definition {
  readonly resource?: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

describe('CompartmentDefinition', () => {
  let app: TestApp;
  let replica: TestApp;
  let standard: Definition;
  const path = '/fhir/CompartmentDefinition/patient';

  beforeAll(async () => {
    app = await startTestApp();
    replica = await startTestApp({ databaseUrl: app.databaseUrl });
    standard = (await app.get(path)).json<Definition>();
    await app.put('/fhir/Patient/p', {});
    await app.put('/fhir/Flag/f', { status: 'active', code: { text: 'x' }, subject: { reference: 'Patient/p' } });
  }, 60_000);
  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  const totals = async (): Promise<unknown[]> =>
    Promise.all([app, replica].map(async (one) => (await one.get('/fhir/Patient/p/$everything')).json<Bundle>().total));

  it('applies from the next call on every replica', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await totals()).toEqual([2, 2]);
      const resource = (standard.resource ?? []).filter(({ code }) => code !== 'Flag');
      expect((await app.put(path, { ...standard, resource })).status).toBe(200);
      expect(await totals()).toEqual([1, 1]);
      expect((await replica.put(path, standard)).status).toBe(200);
    }
    expect(await totals()).toEqual([2, 2]);
  });

  it('contains only the patient if it names no resource', async () => {
    const { resource: _none, ...without } = standard;
    expect((await app.put(path, without)).status).toBe(200);
    expect(await totals()).toEqual([1, 1]);
    await app.put(path, standard);
  });

  it('C1: accepts and serves HL7 compartments that contain their own resource', async () => {
    const definitions = {
      Encounter: { Encounter: ['{def}'], Condition: ['encounter'], Location: undefined },
      Practitioner: {
        Practitioner: ['{def}'],
        Encounter: ['practitioner', 'participant'],
        PractitionerRole: ['practitioner'],
      },
      RelatedPerson: { RelatedPerson: ['{def}'], Encounter: ['participant'], Patient: ['link'] },
    };
    for (const [code, params] of Object.entries(definitions)) {
      const id = code.toLowerCase();
      const body = {
        id,
        url: `http://hl7.org/fhir/CompartmentDefinition/${id}`,
        name: `Base FHIR compartment definition for ${code}`,
        status: 'draft',
        code,
        search: true,
        resource: Object.entries(params).map(([type, param]) => ({
          code: type,
          ...(param === undefined ? {} : { param }),
        })),
      };
      expect((await app.put(`/fhir/CompartmentDefinition/${id}`, body)).status).toBe(201);
    }
    await app.put('/fhir/Practitioner/d', {});
    await app.put('/fhir/Practitioner/other', {});
    const participant = [{ individual: { reference: 'Practitioner/d' } }];
    await app.put('/fhir/Encounter/e', { status: 'planned', class: { code: 'AMB' }, participant });
    const idsAt = async (url: string): Promise<unknown> =>
      (await app.get(url)).json<Bundle>().entry.map(({ resource }) => (resource as { id?: string } | undefined)?.id);
    expect(await idsAt('/fhir/Practitioner/d/Practitioner')).toEqual(['d']);
    expect(await idsAt('/fhir/Practitioner/d/Encounter')).toEqual(['e']);
    expect(await idsAt('/fhir/Encounter/e/Encounter')).toEqual(['e']);
    expect(await totals()).toEqual([2, 2]);
  });

  it.each([
    ['{def} of another type', { code: 'Flag', param: ['{def}'] }, '[0].param[0]', 'whose compartment this is'],
    ['an unknown type', { code: 'Flagg', param: ['patient'] }, '[0].code', 'Flagg'],
    [
      'an unknown parameter',
      { code: 'Flag', param: ['patient', 'pateint'] },
      '[0].param[1]',
      'Did you mean "patient"?',
    ],
    ['a parameter that is not a reference', { code: 'Observation', param: ['code'] }, '[0].param[0]', 'type token'],
  ])('is refused with %s, and the error gives the reason', async (_what, resource, place, why) => {
    const refused = await app.put(path, { ...standard, resource: [resource] });
    const { issue } = refused.json<{ issue: { diagnostics: string; expression: string[] }[] }>();
    expect([refused.status, issue[0]?.expression, issue[0]?.diagnostics]).toEqual([
      422,
      [`CompartmentDefinition.resource${place}`],
      expect.stringContaining(why),
    ]);
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        {
          resource: { ...standard, resource: [resource] },
          request: { method: 'PUT', url: 'CompartmentDefinition/patient' },
        },
      ],
    };
    expect((await app.post('/fhir', bundle, { authorization: ROOT })).status).toBe(422);
    expect(await totals()).toEqual([2, 2]);
  });
});
