import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

const FORMS = 'http://forms.example/Questionnaire';
const PLANS = 'http://plans.example';

/** The stored resources. Of several versions of one URL, the resource that is stored later is the latest. */
const WORLD: readonly { readonly resourceType: string; readonly id: string; readonly [member: string]: unknown }[] = [
  { resourceType: 'Questionnaire', id: 'intake-2', url: `${FORMS}/intake`, version: '2', status: 'retired' },
  { resourceType: 'Questionnaire', id: 'intake-3', url: `${FORMS}/intake`, version: '3', status: 'active' },
  { resourceType: 'Questionnaire', id: 'intake-1', url: `${FORMS}/intake`, version: '1', status: 'active' },
  { resourceType: 'Questionnaire', id: 'longer', url: `${FORMS}/intake-longer`, status: 'active' },
  { resourceType: 'Questionnaire', id: 'own', url: `${BASE_URL}/fhir/Questionnaire/own`, status: 'active' },
  {
    resourceType: 'Questionnaire',
    id: 'derived',
    url: `${FORMS}/derived`,
    status: 'draft',
  },
  ...[
    ['latest', `${FORMS}/intake`],
    ['second', `${FORMS}/intake|2`],
    ['fragment', `${FORMS}/intake|2#part`],
    ['ninth', `${FORMS}/intake|9`],
    ['unknown', `${FORMS}/unknown`],
    ['relative', 'Questionnaire/intake-1'],
    ['own', `${BASE_URL}/fhir/Questionnaire/own`],
    ['derived', `${FORMS}/derived`],
  ].map(([id = '', questionnaire]) => ({
    resourceType: 'QuestionnaireResponse',
    id,
    status: 'completed',
    questionnaire,
  })),
  {
    resourceType: 'QuestionnaireResponse',
    id: 'contained',
    status: 'completed',
    questionnaire: '#q',
    contained: [{ resourceType: 'Questionnaire', id: 'q', status: 'draft' }],
  },
  { resourceType: 'ActivityDefinition', id: 'order', url: `${PLANS}/order`, status: 'active' },
  { resourceType: 'Library', id: 'rules', url: `${PLANS}/rules`, status: 'active', type: { text: 'logic' } },
  {
    resourceType: 'PlanDefinition',
    id: 'plan',
    url: `${PLANS}/plan`,
    status: 'active',
    library: [`${PLANS}/rules`],
    action: [
      { definitionCanonical: `${PLANS}/order` },
      { definitionCanonical: `${FORMS}/intake|1` },
      { definitionUri: `${FORMS}/derived` },
    ],
  },
  {
    resourceType: 'CarePlan',
    id: 'care',
    status: 'active',
    intent: 'plan',
    subject: { reference: 'Patient/p1' },
    instantiatesCanonical: [`${PLANS}/plan`],
  },
  { resourceType: 'Patient', id: 'p1', identifier: [{ system: 'urn:mrn', value: '1' }] },
  { resourceType: 'Patient', id: 'p2', identifier: [{ value: '1' }, { system: 'urn:mrn', value: '2' }] },
  { resourceType: 'Group', id: 'g1', type: 'person', actual: true, identifier: [{ system: 'urn:mrn', value: '1' }] },
  ...[
    ['by-id', { reference: 'Patient/p1' }],
    ['by-mrn', { identifier: { system: 'urn:mrn', value: '2' } }],
    ['by-mrn-1', { identifier: { system: 'urn:mrn', value: '1' } }],
    ['by-mrn-1-group', { type: 'Group', identifier: { system: 'urn:mrn', value: '1' } }],
    ['by-number', { identifier: { value: '1' } }],
    ['by-other', { identifier: { system: 'urn:other', value: '1' } }],
    ['by-both', { reference: 'Patient/p2', identifier: { system: 'urn:mrn', value: '1' } }],
  ].map(([id, subject]) => ({
    resourceType: 'Encounter',
    id: id as string,
    status: 'finished',
    class: { code: 'AMB' },
    subject,
  })),
];

describe('_include and _revinclude over canonicals and identifiers', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    for (const { resourceType, id, ...members } of WORLD) {
      const answer = await app.put(`/fhir/${resourceType}/${id}`, { resourceType, id, ...members });
      expect([id, answer.status, answer.text.slice(0, 300)]).toEqual([id, 201, expect.any(String)]);
    }
  }, 60_000);
  afterAll(() => app.close());

  const included = async (query: string): Promise<string[]> => {
    const answer = await app.get(`/fhir/${query.replaceAll('|', '%7C')}`);
    expect([query, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([query, 200, '']);
    return answer
      .json<Bundle>()
      .entry.filter(({ search }) => search.mode === 'include')
      .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
      .sort();
  };

  it.each([
    ['latest', ['intake-1']],
    ['second', ['intake-2']],
    ['fragment', ['intake-2']],
    ['ninth', []],
    ['unknown', []],
    ['relative', ['intake-1']],
    ['own', ['own']],
    ['contained', []],
  ])('includes the Questionnaire of the response "%s"', async (id, found) => {
    for (const include of [
      'QuestionnaireResponse:questionnaire',
      'QuestionnaireResponse:questionnaire:Questionnaire',
      'QuestionnaireResponse:*',
      '*',
    ])
      expect([include, await included(`QuestionnaireResponse?_id=${id}&_include=${include}`)]).toEqual([
        include,
        found.map((one) => `Questionnaire/${one}`),
      ]);
  });

  it('includes each resource once per page', async () => {
    expect(await included('QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire')).toEqual(
      ['derived', 'intake-1', 'intake-2', 'own'].map((id) => `Questionnaire/${id}`),
    );
    expect(await included('QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire:Patient')).toEqual([]);
  });

  it('iterates over canonicals', async () => {
    expect(
      await included(
        'CarePlan?_include=CarePlan:instantiates-canonical&_include:iterate=PlanDefinition:definition&_include:iterate=PlanDefinition:depends-on',
      ),
    ).toEqual([
      'ActivityDefinition/order',
      'Library/rules',
      'PlanDefinition/plan',
      'Questionnaire/derived',
      'Questionnaire/intake-1',
    ]);
  });

  it('filters by type', async () => {
    expect(await included('PlanDefinition?_include=PlanDefinition:definition:ActivityDefinition')).toEqual([
      'ActivityDefinition/order',
    ]);
  });

  it.each([
    ['intake-1', ['latest', 'relative']],
    ['intake-2', ['fragment', 'second']],
    ['intake-3', []],
    ['longer', []],
    ['own', ['own']],
  ])('includes the responses to Questionnaire/%s that refer to its version', async (id, found) => {
    expect(await included(`Questionnaire?_id=${id}&_revinclude=QuestionnaireResponse:questionnaire`)).toEqual(
      found.map((one) => `QuestionnaireResponse/${one}`),
    );
  });

  it('includes the latest version after another one is stored', async () => {
    const response = {
      resourceType: 'QuestionnaireResponse',
      id: 'moving',
      status: 'completed',
      questionnaire: 'http://forms.example/moving',
    };
    const form = (version: string): object => ({
      resourceType: 'Questionnaire',
      status: 'active',
      url: 'http://forms.example/moving',
      version,
    });
    await app.put('/fhir/QuestionnaireResponse/moving', response);
    for (const id of ['m1', 'm2']) {
      await app.put(`/fhir/Questionnaire/${id}`, form(id));
      expect(await included('QuestionnaireResponse?_id=moving&_include=QuestionnaireResponse:questionnaire')).toEqual([
        `Questionnaire/${id}`,
      ]);
    }
    expect(await included('Questionnaire?_id=m1&_revinclude=QuestionnaireResponse:questionnaire')).toEqual([]);
    await app.delete('/fhir/Questionnaire/m2');
    expect(await included('Questionnaire?_id=m1&_revinclude=QuestionnaireResponse:questionnaire')).toEqual([
      'QuestionnaireResponse/moving',
    ]);
  });

  it.each([
    ['by-id', ['Patient/p1']],
    ['by-mrn', ['Patient/p2']],
    ['by-mrn-1', ['Group/g1', 'Patient/p1']],
    ['by-mrn-1-group', ['Group/g1']],
    ['by-number', ['Patient/p2']],
    ['by-other', []],
    ['by-both', ['Patient/p2']],
  ])('_include:logical includes the subject that the encounter "%s" identifies', async (id, found) => {
    expect(await included(`Encounter?_id=${id}&_include:logical=Encounter:subject`)).toEqual(found);
    expect(await included(`Encounter?_id=${id}&_include:logical=Encounter:subject:Patient`)).toEqual(
      found.filter((one) => one.startsWith('Patient/')),
    );
    expect(await included(`Encounter?_id=${id}&_include=Encounter:subject`)).toEqual(
      id === 'by-id' || id === 'by-both' ? found : [],
    );
  });

  it.each([
    ['Patient?_revinclude:logical=Encounter:subject', 'by identifier'],
    ['Encounter?_include:often=Encounter:subject', ':logical'],
    ['Patient?_revinclude:often=Encounter:subject', ':iterate'],
  ])('refuses %s', async (query, said) => {
    const answer = await app.get(`/fhir/${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(said)]);
  });
});
