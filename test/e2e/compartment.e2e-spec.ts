import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../support/bundle';
import { ROOT, startTestApp, type TestApp } from '../support/test-app';

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

  it('is in force at the next call on every replica', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await totals()).toEqual([2, 2]);
      const resource = (standard.resource ?? []).filter(({ code }) => code !== 'Flag');
      expect((await app.put(path, { ...standard, resource })).status).toBe(200);
      expect(await totals()).toEqual([1, 1]);
      expect((await replica.put(path, standard)).status).toBe(200);
    }
    expect(await totals()).toEqual([2, 2]);
  });

  it('holds the patient alone when it names no resource', async () => {
    const { resource: _none, ...without } = standard;
    expect((await app.put(path, without)).status).toBe(200);
    expect(await totals()).toEqual([1, 1]);
    await app.put(path, standard);
  });

  it.each([
    ['an unknown type', { code: 'Flagg', param: ['patient'] }, '[0].code', 'Flagg'],
    [
      'an unknown parameter',
      { code: 'Flag', param: ['patient', 'pateint'] },
      '[0].param[1]',
      'Did you mean "patient"?',
    ],
    ['a parameter that is no reference', { code: 'Observation', param: ['code'] }, '[0].param[0]', 'type token'],
  ])('is refused with %s, and what is wrong is told', async (_what, resource, place, why) => {
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
