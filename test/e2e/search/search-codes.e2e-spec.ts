import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { storeAll } from '../../../testing/world';

const GENDER = 'http://hl7.org/fhir/administrative-gender';
const USE = 'http://hl7.org/fhir/address-use';
const STATUS = 'http://hl7.org/fhir/encounter-status';

const valueSetOf = (name: string, system: string, code: string): object => ({
  url: `http://sets.example/${name}`,
  status: 'active',
  compose: { include: [{ system, concept: [{ code }] }] },
});

describe('the system that R4 implies for an element of type code', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    const encounter = { status: 'planned', class: { system: 'http://a.example', code: 'planned' } };
    await storeAll(app, [
      ['Patient/ann', { gender: 'female', address: [{ use: 'home' }] }],
      ['Patient/bob', { gender: 'male', address: [{ use: 'work' }] }],
      ['Patient/cat', {}],
      ['Encounter/e1', { ...encounter, subject: { reference: 'Patient/bob' } }],
      ['ValueSet/men', valueSetOf('men', GENDER, 'male')],
      ['ValueSet/strange', valueSetOf('strange', 'http://a.example', 'male')],
    ]);
  });
  afterAll(() => app.close());

  const idsOf = async (path: string): Promise<readonly string[]> =>
    (await app.get(path))
      .json<{ entry?: { resource: { id: string } }[] }>()
      .entry?.map(({ resource }) => resource.id)
      .sort() ?? [];

  it.each<[string, readonly string[]]>([
    [`Patient?gender=${GENDER}|male`, ['bob']],
    [`Patient?gender=${GENDER}|male,${GENDER}|female`, ['ann', 'bob']],
    [`Patient?gender=${GENDER}|`, ['ann', 'bob']],
    [`Patient?gender:not=${GENDER}|male`, ['ann', 'cat']],
    [`Patient?gender:i=${GENDER}|MALE`, ['bob']],
    [`Patient?gender=${GENDER}|MALE`, []],
    ['Patient?gender=http://a.example|male', []],
    [`Patient?gender=${GENDER}|home`, []],
    ['Patient?gender=|male', ['bob']],
    [`Patient?address-use=${USE}|work`, ['bob']],
    [`Patient?address-use=${GENDER}|male`, []],
    [`Encounter?status=${STATUS}|planned&subject:Patient.gender=${GENDER}|male`, ['e1']],
    // Another system has the same code.
    ['Encounter?status=http://hl7.org/fhir/event-status|preparation', []],
    // A Coding has its own system.
    [`Encounter?class=${STATUS}|planned`, []],
    [`Patient?_filter=gender eq ${GENDER}|male`, ['bob']],
    ['Patient?gender:in=http://sets.example/men', ['bob']],
    ['Patient?gender:not-in=http://sets.example/men', ['ann', 'cat']],
    ['Patient?gender:in=http://sets.example/strange', []],
    ['Encounter?subject:Patient.gender:in=http://sets.example/men', ['e1']],
  ])('%s', async (path, ids) => {
    expect(await idsOf(`/fhir/${path}`)).toEqual(ids);
  });
});
