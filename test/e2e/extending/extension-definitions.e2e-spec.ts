import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

interface Outcome {
  readonly issue: readonly { readonly severity: string; readonly code: string; readonly expression?: string[] }[];
}

const GRADE = 'http://clinic.example/StructureDefinition/grade';
const VISIT = 'http://clinic.example/StructureDefinition/visit';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const issuesOf = (answer: Received): string[] =>
  answer.json<Outcome>().issue.map(({ severity, code, expression = [] }) => [severity, code, ...expression].join(' '));

const definition = (id: string, url: string, ...element: object[]): object => ({
  resourceType: 'StructureDefinition',
  id,
  url,
  name: id,
  status: 'active',
  kind: 'complex-type',
  abstract: false,
  type: 'Extension',
  context: [{ type: 'element', expression: 'Element' }],
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Extension',
  derivation: 'constraint',
  differential: {
    element: [
      { id: 'Extension', path: 'Extension' },
      { id: 'Extension.url', path: 'Extension.url', fixedUri: url },
      ...element,
    ],
  },
});

const grade = (...members: object[]): object =>
  definition('grade', GRADE, { id: 'Extension.value[x]', path: 'Extension.value[x]', min: 1, ...members[0] });

const patient = (...extension: object[]): object => ({ resourceType: 'Patient', extension });

describe('extensions whose StructureDefinitions are stored', () => {
  beforeAll(async () => {
    expect((await app.post('/fhir/Patient', patient({ url: GRADE, valueString: 'high' }))).status).toBe(201);
    expect((await app.put('/fhir/StructureDefinition/grade', grade({ type: [{ code: 'integer' }] }))).status).toBe(201);
  });

  it('C4.7: are validated at every write, even without a profile', async () => {
    const refused = await app.post('/fhir/Patient', patient({ url: GRADE, valueString: 'high' }));
    expect([refused.status, ...issuesOf(refused)]).toEqual([422, 'fatal structure Patient.extension[0].value']);
    expect((await app.post('/fhir/Patient', patient({ url: GRADE, valueInteger: 3 }))).status).toBe(201);
  });

  it('C4.7: are validated at every position', async () => {
    const wrong = [{ url: GRADE, valueString: 'high' }];
    const body = {
      resourceType: 'Patient',
      contained: [{ resourceType: 'Organization', id: 'o', name: 'O', extension: wrong }],
      managingOrganization: { reference: '#o' },
      _birthDate: { extension: wrong },
      name: [{ given: ['A'], _given: [{ extension: wrong }] }],
      modifierExtension: wrong,
    };
    const places = ['contained[0].extension[0]', 'birthDate.extension[0]', 'name[0].given[0].extension[0]'];
    expect(issuesOf(await app.post('/fhir/Patient/$validate', body)).sort()).toEqual(
      [...places, 'modifierExtension[0]'].map((place) => `error structure Patient.${place}.value`).sort(),
    );
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource: patient(...wrong) }] };
    expect(issuesOf(await app.post('/fhir/Bundle/$validate', bundle))).toEqual([
      'error structure Bundle.entry[0].resource.extension[0].value',
    ]);
  });

  it('C4.7: are validated by a changed definition from the next write on, and no longer after its deletion', async () => {
    const text = patient({ url: GRADE, valueString: 'high' });
    await app.put('/fhir/StructureDefinition/grade', grade({ type: [{ code: 'string' }], maxLength: 3 }));
    expect(issuesOf(await app.post('/fhir/Patient', text))).toEqual(['fatal too-long Patient.extension[0].value']);
    await app.delete('/fhir/StructureDefinition/grade');
    expect((await app.post('/fhir/Patient', text)).status).toBe(201);
  });

  it('C4.7: may be nested in an extension', async () => {
    const part = (name: string): object[] => [
      { id: `Extension.extension:${name}`, path: 'Extension.extension', sliceName: name, min: 1, max: '1' },
      { id: `Extension.extension:${name}.url`, path: 'Extension.extension.url', fixedUri: name },
      { id: `Extension.extension:${name}.value[x]`, path: 'Extension.extension.value[x]', type: [{ code: 'date' }] },
    ];
    const visit = definition('visit', VISIT, ...part('from'), ...part('until'));
    expect((await app.put('/fhir/StructureDefinition/visit', visit)).status).toBe(201);
    const sent = patient({ url: VISIT, extension: [{ url: 'from', valueString: 'x' }] });
    expect(issuesOf(await app.post('/fhir/Patient/$validate', sent)).sort()).toEqual([
      'error required Patient.extension[0].extension',
      'error structure Patient.extension[0].extension[0].value',
    ]);
  });

  it('C4.7: are looked up for many URLs in one search, and special characters in URLs are escaped', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      url: `http://x.example/${index}|,$\\`,
      valueString: 'x',
    }));
    expect((await app.post('/fhir/Patient', patient(...many, { url: VISIT, valueString: 'x' }))).status).toBe(201);
    const first = await app.post('/fhir/Patient', patient({ url: VISIT, valueString: 'x' }, ...many));
    expect(first.status).toBe(422);
  });
});
