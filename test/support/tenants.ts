import { type TestApp } from '../../testing/test-app';

/** Resources that the callers of a spec may read: all their ids begin with `own`. */
const OWN = [
  { resourceType: 'Location', id: 'own-ward', name: 'Ward one' },
  { resourceType: 'Practitioner', id: 'own-doctor', name: [{ family: 'Okafor' }] },
  {
    resourceType: 'Patient',
    id: 'own-p',
    name: [{ family: 'Rivera', given: ['Ana'] }],
    gender: 'female',
    birthDate: '1980-05-01',
    identifier: [{ system: 'http://mrn.example', value: 'own-1' }],
    managingOrganization: { reference: 'Organization/canary-org' },
    generalPractitioner: [{ reference: 'Practitioner/own-doctor' }],
  },
  {
    resourceType: 'Encounter',
    id: 'own-e',
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
    subject: { reference: 'Patient/own-p' },
    location: [{ location: { reference: 'Location/own-ward' } }],
    period: { start: '2026-01-10', end: '2026-01-11' },
  },
  ...[1, 2, 3].map((number) => ({
    resourceType: 'Observation',
    id: `own-o${number}`,
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }], text: 'Heart rate' },
    subject: { reference: 'Patient/own-p' },
    encounter: { reference: 'Encounter/own-e' },
    performer: [{ reference: 'Practitioner/own-doctor' }],
    hasMember: [{ reference: 'Observation/canary-o1' }],
    effectiveDateTime: `2026-01-1${number}`,
    valueQuantity: { value: 70 + number, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  })),
  {
    resourceType: 'Condition',
    id: 'own-c',
    code: { coding: [{ system: 'http://snomed.info/sct', code: '38341003' }] },
    subject: { reference: 'Patient/own-p' },
    encounter: { reference: 'Encounter/own-e' },
    onsetDateTime: '2020-01-01',
  },
  {
    resourceType: 'List',
    id: 'own-l',
    status: 'current',
    mode: 'working',
    subject: { reference: 'Patient/own-p' },
    encounter: { reference: 'Encounter/own-e' },
    entry: [{ item: { reference: 'Observation/own-o1' } }, { item: { reference: 'Observation/canary-o1' } }],
  },
  { resourceType: 'Questionnaire', id: 'own-q', url: 'http://q.example/pain', version: '1', status: 'active' },
  {
    resourceType: 'QuestionnaireResponse',
    id: 'own-r',
    status: 'completed',
    questionnaire: 'http://q.example/pain',
    subject: { reference: 'Patient/own-p' },
    encounter: { reference: 'Encounter/own-e' },
    author: { type: 'Organization', identifier: { system: 'http://org.example', value: 'org-7' } },
  },
] as const;

/** Resources whose existence must never be revealed: each contains `canary`, and refers to a visible resource. */
const HIDDEN = [
  {
    resourceType: 'Organization',
    id: 'canary-org',
    name: 'Canary House',
    active: true,
    identifier: [{ system: 'http://org.example', value: 'org-7' }],
  },
  { resourceType: 'Location', id: 'canary-ward', name: 'Canary ward' },
  {
    resourceType: 'Patient',
    id: 'canary-p',
    name: [{ family: 'Canary', given: ['Carl'] }],
    gender: 'male',
    birthDate: '1955-05-05',
    identifier: [{ system: 'http://mrn.example', value: 'canary-1' }],
    link: [{ other: { reference: 'Patient/own-p' }, type: 'seealso' }],
  },
  {
    resourceType: 'Encounter',
    id: 'canary-e',
    status: 'in-progress',
    class: { system: 'http://canary.example', code: 'canary-class' },
    subject: { reference: 'Patient/canary-p' },
    partOf: { reference: 'Encounter/own-e' },
    location: [{ location: { reference: 'Location/canary-ward' } }],
    period: { start: '2026-03-01' },
  },
  ...[1, 2].map((number) => ({
    resourceType: 'Observation',
    id: `canary-o${number}`,
    status: 'amended',
    code: { coding: [{ system: 'http://canary.example', code: 'canary-code' }], text: 'Canary' },
    subject: { reference: 'Patient/canary-p' },
    encounter: { reference: 'Encounter/canary-e' },
    performer: [{ reference: 'Practitioner/own-doctor' }],
    hasMember: [{ reference: 'Observation/own-o1' }],
    effectiveDateTime: '2026-02-02',
    valueQuantity: { value: 142, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  })),
  {
    resourceType: 'Condition',
    id: 'canary-c',
    code: { coding: [{ system: 'http://canary.example', code: 'canary-code' }] },
    subject: { reference: 'Patient/canary-p' },
    asserter: { reference: 'Practitioner/own-doctor' },
    evidence: [{ detail: [{ reference: 'Observation/own-o1' }] }],
  },
  {
    resourceType: 'Group',
    id: 'canary-g',
    type: 'person',
    actual: true,
    name: 'Canary',
    code: { coding: [{ system: 'http://canary.example', code: 'canary-code' }] },
    member: [{ entity: { reference: 'Patient/own-p' } }],
  },
  {
    resourceType: 'List',
    id: 'canary-l',
    status: 'current',
    mode: 'working',
    title: 'Canary',
    subject: { reference: 'Patient/canary-p' },
    entry: [{ item: { reference: 'Observation/own-o1' } }, { item: { reference: 'Patient/own-p' } }],
  },
  { resourceType: 'Questionnaire', id: 'canary-q', url: 'http://q.example/pain', version: '2', status: 'active' },
  {
    resourceType: 'QuestionnaireResponse',
    id: 'canary-r',
    status: 'completed',
    questionnaire: 'http://q.example/pain|1',
    subject: { reference: 'Patient/canary-p' },
  },
  {
    resourceType: 'ValueSet',
    id: 'canary-vs',
    url: 'http://canary.example/vs',
    status: 'active',
    compose: { include: [{ system: 'http://loinc.org', concept: [{ code: '8867-4' }] }] },
  },
] as const;

export const OWN_NAMES = OWN.map(({ resourceType, id }) => `${resourceType}/${id}`);
export const HIDDEN_NAMES = HIDDEN.map(({ resourceType, id }) => `${resourceType}/${id}`);

export async function storeTenants(app: TestApp): Promise<void> {
  for (const resource of [...OWN, ...HIDDEN]) {
    const { status, text } = await app.put(`/${resource.resourceType}/${resource.id}`, resource);
    if (status !== 201) throw new Error(text);
  }
  // Gives both Observations an earlier version.
  for (const id of ['own-o1', 'canary-o1']) {
    const stored = (await app.get(`/Observation/${id}`)).json<object>();
    await app.put(`/Observation/${id}`, { ...stored, note: [{ text: `${id} was read again` }] });
  }
}

/**
 * Changes only hidden resources: deletes, moves and adds some.
 * @param isChanged whether to change the resources of a type. For callers from whom whole types are hidden, it selects
 * these types.
 */
export async function changeHidden(app: TestApp, isChanged = (_type: string): boolean => true): Promise<void> {
  const isOfType = (name: string): boolean => isChanged(name.slice(0, name.indexOf('/')));
  const deleted = ['Group/canary-g', 'List/canary-l', 'Condition/canary-c', 'Observation/canary-o2'];
  for (const name of deleted.filter(isOfType)) await app.delete(`/${name}`);
  const changes: Record<string, object> = {
    'Organization/canary-org': { name: 'Elsewhere', active: false },
    'Patient/canary-p': { name: [{ family: 'Aardvark' }], birthDate: '2001-01-01', gender: 'other', link: undefined },
    'Observation/canary-o1': {
      status: 'final',
      code: { text: 'other' },
      hasMember: undefined,
      valueQuantity: undefined,
    },
    'Encounter/canary-e': { status: 'finished', partOf: undefined },
    'Questionnaire/canary-q': { version: '0' },
    'QuestionnaireResponse/canary-r': { questionnaire: 'http://q.example/other' },
    'ValueSet/canary-vs': { compose: { include: [{ system: 'http://loinc.org', concept: [{ code: '1-8' }] }] } },
  };
  for (const [name, change] of Object.entries(changes).filter(([name]) => isOfType(name))) {
    await app.put(`/${name}`, { ...(await app.get(`/${name}`)).json<object>(), ...change });
  }
  for (let number = 10; number < 15 && isChanged('Observation'); number++) {
    await app.put(`/Observation/canary-o${number}`, {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      subject: { reference: 'Patient/canary-p' },
      derivedFrom: [{ reference: 'Observation/own-o2' }],
      effectiveDateTime: `2026-01-${number}`,
    });
  }
}
