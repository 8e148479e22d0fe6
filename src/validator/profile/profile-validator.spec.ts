import { describe, expect, it } from '@jest/globals';
import { CodeSet } from '../r4/binding-check';
import { atOnce } from '../../platform/time/steps';
import { placeByItself, placesIn, resolveFrom } from './placed-resource';
import { ProfileValidator, type ProfileSources } from './profile-validator';
import { storedProfileOf, type StoredProfile } from './stored-profile';

const URL = 'http://p.example/profile';
const RACE = 'http://p.example/race';

type Element = Readonly<Record<string, unknown>> & { readonly id: string };

const definition = (type: string, elements: readonly Element[], more: object = {}): object => ({
  resourceType: 'StructureDefinition',
  url: URL,
  type,
  baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
  differential: { element: elements.map((element) => ({ path: element.id.replace(/:\w+/g, ''), ...element })) },
  ...more,
});

const others: Record<string, object> = {
  [RACE]: definition(
    'Extension',
    [
      { id: 'Extension.url', fixedUri: RACE },
      { id: 'Extension.value[x]', min: 1, type: [{ code: 'code' }] },
    ],
    { url: RACE },
  ),
  'http://p.example/base': definition('Patient', [{ id: 'Patient.birthDate', min: 1 }], {
    url: 'http://p.example/base',
  }),
};

const TOWN = 'http://p.example/town';
const LAND = 'http://p.example/land';
others[TOWN] = definition('Address', [{ id: 'Address.city', min: 1 }], { url: TOWN });
others[LAND] = definition('Address', [{ id: 'Address.country', min: 1 }], { url: LAND });

others['http://hl7.org/fhir/StructureDefinition/vitalsigns'] = definition('Observation', [
  { id: 'Observation.subject', min: 1 },
]);

const read = new Map<object | undefined, StoredProfile | undefined>();

/** Returns the same object at each call for a definition, as the server does. */
function profileOf(canonical: string): StoredProfile | undefined {
  const found = others[canonical];
  if (!read.has(found)) read.set(found, storedProfileOf(found));
  return read.get(found);
}

const sources: ProfileSources = {
  profile: profileOf,
  now: () => Date.UTC(2026, 0, 1),
  convert: (value, from, to) => (from === 'g' && to === 'kg' ? value / 1000 : undefined),
  codes: (canonical) =>
    canonical === 'http://p.example/codes' ? new CodeSet(canonical, new Map([['http://s', ['a', 'b']]])) : undefined,
};

/** The issues of a validation, each as `severity code expression`. */
function issues(
  elements: readonly Element[],
  resource: { readonly resourceType: string; readonly [member: string]: unknown },
  more: object = {},
): string[] {
  const profile = storedProfileOf(definition(resource.resourceType, elements, more));
  if (profile === undefined) throw new Error('no profile');
  return atOnce(new ProfileValidator(sources).validate(placeByItself(resource), profile)).map(
    ({ severity, code, expression }) => `${severity} ${code} ${expression}`,
  );
}

const patient = (members: object): { resourceType: string } => ({ resourceType: 'Patient', ...members });
const observation = (members: object): { resourceType: string } => ({ resourceType: 'Observation', ...members });

const SLICED = (rules: string, ordered = false): readonly Element[] => [
  { id: 'Patient.identifier', slicing: { discriminator: [{ type: 'value', path: 'system' }], rules, ordered } },
  { id: 'Patient.identifier:mrn', sliceName: 'mrn', min: 1, max: '1' },
  { id: 'Patient.identifier:mrn.system', fixedUri: 'http://mrn' },
  { id: 'Patient.identifier:mrn.value', min: 1 },
  { id: 'Patient.identifier:ssn', sliceName: 'ssn', max: '1' },
  { id: 'Patient.identifier:ssn.system', fixedUri: 'http://ssn' },
];
const MRN = { system: 'http://mrn', value: '1' };
const SSN = { system: 'http://ssn', value: '2' };

describe(ProfileValidator, () => {
  it.each([
    ['a minimum', [{ id: 'Patient.name', min: 1 }], patient({}), ['error required Patient.name']],
    ['a minimum that is satisfied', [{ id: 'Patient.name', min: 1 }], patient({ name: [{}] }), []],
    ['a minimum below a missing element', [{ id: 'Patient.name.family', min: 1 }], patient({}), []],
    [
      'a minimum below each element',
      [{ id: 'Patient.name.family', min: 1 }],
      patient({ name: [{ family: 'A' }, {}] }),
      ['error required Patient.name[1].family'],
    ],
    ['a maximum', [{ id: 'Patient.name', max: '1' }], patient({ name: [{}, {}] }), ['error structure Patient.name']],
    ['a maximum of 0', [{ id: 'Patient.name', max: '0' }], patient({ name: [{}] }), ['error structure Patient.name']],
    [
      'a missing value with extensions',
      [{ id: 'Patient.birthDate', min: 1 }],
      patient({ _birthDate: { extension: [] } }),
      [],
    ],
    [
      'a type that the profile excludes',
      [{ id: 'Observation.value[x]', type: [{ code: 'Quantity' }, { code: 'string' }] }],
      observation({ valueInteger: 1 }),
      ['error structure Observation.value'],
    ],
    [
      'a type that the profile allows',
      [{ id: 'Observation.value[x]', type: [{ code: 'Quantity' }, { code: 'string' }] }],
      observation({ valueString: 'a' }),
      [],
    ],
    [
      'a target type that the profile excludes',
      [
        {
          id: 'Observation.subject',
          type: [{ code: 'Reference', targetProfile: ['http://hl7.org/fhir/StructureDefinition/Patient'] }],
        },
      ],
      observation({ subject: { reference: 'Group/1' } }),
      ['error structure Observation.subject'],
    ],
    [
      'a fixed value',
      [{ id: 'Observation.status', fixedCode: 'final' }],
      observation({ status: 'amended' }),
      ['error value Observation.status'],
    ],
    [
      'a pattern',
      [{ id: 'Observation.code', patternCodeableConcept: { coding: [{ code: 'a' }] } }],
      observation({ code: { coding: [{ code: 'b' }] } }),
      ['error value Observation.code'],
    ],
    [
      'a pattern that is satisfied',
      [{ id: 'Observation.code', patternCodeableConcept: { coding: [{ code: 'a' }] } }],
      observation({ code: { text: 't', coding: [{ code: 'b' }, { system: 's', code: 'a' }] } }),
      [],
    ],
    [
      'a binding',
      [{ id: 'Observation.code', binding: { strength: 'required', valueSet: 'http://p.example/codes' } }],
      observation({ code: { coding: [{ system: 'http://s', code: 'c' }] } }),
      ['error code-invalid Observation.code'],
    ],
    [
      'a binding that is satisfied',
      [{ id: 'Observation.code', binding: { strength: 'required', valueSet: 'http://p.example/codes' } }],
      observation({ code: { coding: [{ system: 'http://s', code: 'b' }] } }),
      [],
    ],
    [
      'a binding to a value set that is not stored',
      [{ id: 'Observation.code', binding: { strength: 'required', valueSet: 'http://q.example' } }],
      observation({ code: {} }),
      ['warning informational Observation.code'],
    ],
    [
      'a binding that is only preferred',
      [{ id: 'Observation.code', binding: { strength: 'preferred', valueSet: 'http://p.example/codes' } }],
      observation({ code: {} }),
      [],
    ],
    [
      'an invariant',
      [{ id: 'Patient', constraint: [{ key: 'x-1', severity: 'error', human: 'h', expression: 'name.exists()' }] }],
      patient({}),
      ['error invariant Patient'],
    ],
    [
      'an invariant with the severity warning',
      [{ id: 'Patient', constraint: [{ key: 'x-1', severity: 'warning', human: 'h', expression: 'name.exists()' }] }],
      patient({}),
      ['warning invariant Patient'],
    ],
    [
      'an invariant of an element',
      [
        {
          id: 'Patient.name',
          constraint: [{ key: 'x-2', severity: 'error', human: 'h', expression: "family.startsWith('A')" }],
        },
      ],
      patient({ name: [{ family: 'A' }, { family: 'B' }] }),
      ['error invariant Patient.name[1]'],
    ],
    [
      'an invariant that the FHIRPath library evaluates',
      [
        {
          id: 'Patient.name',
          constraint: [{ key: 'x-3', severity: 'error', human: 'h', expression: "family.lower() = 'a'" }],
        },
      ],
      patient({ name: [{ family: 'A' }, { family: 'B' }] }),
      ['error invariant Patient.name[1]'],
    ],
    [
      'C4: an invariant about the type of its element',
      [
        {
          id: 'Patient.contact.name',
          constraint: [
            { key: 'x-5', severity: 'error', human: 'h', expression: "%context.type().name = 'HumanName'" },
            { key: 'x-6', severity: 'error', human: 'h', expression: "%context.type().name != 'HumanName'" },
          ],
        },
        {
          id: 'Patient',
          constraint: [{ key: 'x-7', severity: 'error', human: 'h', expression: "%context.type().name = 'Patient'" }],
        },
      ],
      patient({ contact: [{ name: { family: 'A' } }] }),
      ['error invariant Patient.contact[0].name'],
    ],
    [
      'an invariant with a syntax error',
      [{ id: 'Patient', constraint: [{ key: 'x-4', severity: 'error', human: 'h', expression: 'name.(' }] }],
      patient({}),
      ['warning informational Patient'],
    ],
    [
      'an extension by its url',
      [{ id: 'Patient.extension:race', sliceName: 'race', min: 1, type: [{ code: 'Extension', profile: [RACE] }] }],
      patient({ extension: [{ url: 'http://other', valueCode: 'x' }] }),
      ['error required Patient.extension'],
    ],
    [
      'the profile of an extension',
      [{ id: 'Patient.extension:race', sliceName: 'race', min: 1, type: [{ code: 'Extension', profile: [RACE] }] }],
      patient({ extension: [{ url: RACE, valueString: 'x' }] }),
      ['error structure Patient.extension[0].value'],
    ],
    [
      'a valid extension',
      [{ id: 'Patient.extension:race', sliceName: 'race', min: 1, type: [{ code: 'Extension', profile: [RACE] }] }],
      patient({ extension: [{ url: RACE, valueCode: 'x' }] }),
      [],
    ],
    [
      'slices by type',
      [
        { id: 'Observation.value[x]:valueQuantity', sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] },
        { id: 'Observation.value[x]:valueQuantity.code', min: 1 },
      ],
      observation({ valueQuantity: { value: 1 } }),
      ['error required Observation.value.code'],
    ],
    [
      'a discriminator that needs another resource',
      [
        {
          id: 'Patient.link',
          slicing: { discriminator: [{ type: 'profile', path: 'other.resolve()' }], rules: 'closed' },
        },
        { id: 'Patient.link:a', sliceName: 'a' },
      ],
      patient({ link: [{}] }),
      ['warning informational Patient.link'],
    ],
    [
      'no invariants of R4 that a snapshot repeats',
      [{ id: 'Patient', constraint: [{ key: 'dom-6', severity: 'warning', human: 'h', expression: 'text.exists()' }] }],
      patient({}),
      [],
    ],
  ] as [string, readonly Element[], { resourceType: string }, string[]][])(
    'checks %s',
    (_title, elements, resource, expected) => {
      expect(issues(elements, resource)).toEqual(expected);
    },
  );

  const KG = { system: 'http://unitsofmeasure.org', code: 'kg' };
  const least = (element: object): readonly Element[] => [{ id: 'Observation.value[x]', ...element }];
  it.each([
    ['C4.1', { minValueDate: '2020-06-01' }, { birthDate: '2020-05-31' }, true],
    ['C4.1', { minValueDate: '2020-06-01' }, { birthDate: '2020-06-01' }, false],
    ['C4.1', { minValueDate: '2020-06-01' }, { birthDate: '2020-06' }, false],
    ['C4.1', { minValueDate: '2020-06-01' }, { birthDate: '2020-05' }, true],
    ['C4.1', { minValueQuantity: { value: 18, code: 'a' } }, { birthDate: '2007-12-01' }, true],
    ['C4.1', { minValueQuantity: { value: 18, code: 'a' } }, { birthDate: '2008-01-02' }, false],
    ['C4.2', { maxValueDate: '2020-06-01' }, { birthDate: '2020-06-02' }, true],
    ['C4.2', { maxValueDate: '2020-06-01' }, { birthDate: '2020' }, false],
    ['C4.2', { maxValueQuantity: { value: 1, code: 'd' } }, { birthDate: '2026-01-03' }, true],
    ['C4.2', { maxValueQuantity: { value: 1, code: 'd' } }, { birthDate: '2026-01-02' }, false],
  ])('%s: checks dates: limit %j, members %j', (_number, limit, members, isRefused) => {
    const expected = isRefused ? ['error value Patient.birthDate'] : [];
    expect(issues([{ id: 'Patient.birthDate', ...limit }], patient(members))).toEqual(expected);
  });

  it.each([
    ['C4.1', { minValueInteger: 3 }, { valueInteger: 2 }, 'error value'],
    ['C4.1', { minValueInteger: 3 }, { valueInteger: 3 }, undefined],
    ['C4.2', { maxValueInteger: 3 }, { valueInteger: 4 }, 'error value'],
    ['C4.1', { minValueTime: '10:00:00' }, { valueTime: '09:59:59.9' }, 'error value'],
    ['C4.1', { minValueTime: '10:00:00.000' }, { valueTime: '10:00:00' }, undefined],
    [
      'C4.2',
      { maxValueInstant: '2020-01-01T00:00:00Z' },
      { valueDateTime: '2020-01-01T01:00:01+01:00' },
      'error value',
    ],
    ['C4.2', { maxValueInstant: '2020-01-01T00:00:00Z' }, { valueDateTime: '2020-01-01' }, undefined],
    ['C4.1', { minValueQuantity: { value: 1, ...KG } }, { valueQuantity: { value: 0.5, ...KG } }, 'error value'],
    [
      'C4.1',
      { minValueQuantity: { value: 1, ...KG } },
      { valueQuantity: { value: 999, ...KG, code: 'g' } },
      'error value',
    ],
    [
      'C4.1',
      { minValueQuantity: { value: 1, ...KG } },
      { valueQuantity: { value: 1000, ...KG, code: 'g' } },
      undefined,
    ],
    [
      'C4.1',
      { minValueQuantity: { value: 1, ...KG } },
      { valueQuantity: { value: 9, ...KG, code: 'm' } },
      'warning informational',
    ],
    ['C4.3', { maxLength: 3 }, { valueString: 'four' }, 'error too-long'],
    ['C4.3', { maxLength: 3 }, { valueString: '\u{1F600}\u{1F600}\u{1F600}' }, undefined],
  ])('%s: checks values: limit %j, members %j', (_number, limit, members, expected) => {
    const found = issues(least(limit), observation(members));
    expect(found).toEqual(expected === undefined ? [] : [`${expected} Observation.value`]);
  });

  it.each([
    [[{ city: 'A' }, { country: 'B' }], []],
    [[{ city: 'A' }, { text: 'C' }], ['error structure Patient.address[1]']],
  ])('C4.4: requires one of several profiles of a type: %j', (address, expected) => {
    const one = [{ id: 'Patient.address', type: [{ code: 'Address', profile: [TOWN, LAND] }] }];
    expect(issues(one, patient({ address }))).toEqual(expected);
    const two = [TOWN, LAND].map((url) => ({ code: 'Address', profile: [url] }));
    expect(issues([{ id: 'Patient.address', type: two }], patient({ address }))).toEqual(expected);
  });

  it('C4.4: accepts a value if one of its profiles is not stored', () => {
    const elements = [{ id: 'Patient.address', type: [{ code: 'Address', profile: [TOWN, 'http://p.example/no'] }] }];
    expect(issues(elements, patient({ address: [{ text: 'C' }] }))).toEqual([]);
  });

  it('C4.4: checks a value once by each profile, at any depth of recursive profiles', () => {
    const url = 'http://p.example/deep';
    const type = [{ code: 'Extension', profile: [url] }];
    const element = { id: 'Extension.extension', type };
    // Two elements of the profile lead to the same values. Without a cache, each level would double the work.
    others[url] = definition('Extension', [element, { ...element, min: 0 }], { url });
    let extension: object = { url: 'x', valueCode: 'x' };
    for (let depth = 0; depth < 60; depth += 1) extension = { url: 'x', extension: [extension] };
    expect(issues([{ id: 'Patient.extension', type }], patient({ extension: [extension] }))).toEqual([]);
  });

  it('C4.4: checks the resource of an entry by its type and profile', () => {
    const bundle = (resource: object): { resourceType: string } => ({
      resourceType: 'Bundle',
      ...{ entry: [{ resource }] },
    });
    const elements = [{ id: 'Bundle.entry.resource', type: [{ code: 'Patient', profile: ['http://p.example/base'] }] }];
    expect(issues(elements, bundle(patient({ birthDate: '2020' })))).toEqual([]);
    expect(issues(elements, bundle(patient({})))).toEqual(['error required Bundle.entry[0].resource.birthDate']);
    expect(issues(elements, bundle(observation({})))).toEqual(['error structure Bundle.entry[0].resource']);
  });

  const BOUND: readonly Element[] = [
    { id: 'Observation.category', slicing: { discriminator: [{ type: 'value', path: '$this' }], rules: 'open' } },
    {
      id: 'Observation.category:survey',
      sliceName: 'survey',
      min: 1,
      max: '1',
      patternCodeableConcept: { text: 'survey' },
    },
    { id: 'Observation.category:kind', sliceName: 'kind', max: '1' },
  ];
  const binding = (valueSet: string): readonly Element[] => [
    ...BOUND.slice(0, 2),
    { id: 'Observation.category:kind', sliceName: 'kind', max: '1', binding: { strength: 'required', valueSet } },
  ];
  const KIND = { coding: [{ system: 'http://s', code: 'a' }] };
  it.each([
    ['http://p.example/codes', [{ text: 'survey' }, KIND], []],
    ['http://p.example/codes', [{ text: 'survey' }, KIND, KIND], ['error structure Observation.category']],
    ['http://p.example/codes', [KIND], ['error required Observation.category']],
    ['http://p.example/absent', [{ text: 'survey' }], []],
    ['http://p.example/absent', [], ['error required Observation.category']],
    [
      'http://p.example/absent',
      [KIND],
      ['error required Observation.category', 'warning informational Observation.category'],
    ],
  ])('C4.5: checks the other slices if one slice is bound to %s: %j', (valueSet, category, expected) => {
    expect(issues(binding(valueSet), observation({ category }))).toEqual(expected);
  });

  it.each([
    ['open', [MRN, SSN, { value: 'x' }], []],
    ['open', [SSN], ['error required Patient.identifier']],
    ['open', [MRN, MRN], ['error structure Patient.identifier']],
    ['open', [{ system: 'http://mrn' }], ['error required Patient.identifier[0].value']],
    ['closed', [MRN, { value: 'x' }], ['error structure Patient.identifier[1]']],
    ['openAtEnd', [{ value: 'x' }, MRN], ['error structure Patient.identifier[1]']],
    ['openAtEnd', [MRN, { value: 'x' }], []],
  ])('checks slices with the rules %s: %j', (rules, identifier, expected) => {
    expect(issues(SLICED(rules), patient({ identifier }))).toEqual(expected);
  });

  it('checks the order of slices if the slicing is ordered', () => {
    expect(issues(SLICED('open', true), patient({ identifier: [SSN, MRN] }))).toEqual([
      'error structure Patient.identifier[1]',
    ]);
  });

  it('assigns slices by existence', () => {
    const elements = [
      { id: 'Patient.contact', slicing: { discriminator: [{ type: 'exists', path: 'organization' }], rules: 'open' } },
      { id: 'Patient.contact:work', sliceName: 'work', max: '1' },
      { id: 'Patient.contact:work.organization', min: 1 },
      { id: 'Patient.contact:home', sliceName: 'home', max: '0' },
      { id: 'Patient.contact:home.organization', max: '0' },
    ];
    expect(issues(elements, patient({ contact: [{ organization: {} }] }))).toEqual([]);
    expect(issues(elements, patient({ contact: [{ name: {} }] }))).toEqual(['error structure Patient.contact']);
  });

  it('checks the base profiles too', () => {
    const more = { baseDefinition: 'http://p.example/base' };
    expect(issues([{ id: 'Patient.name', min: 1 }], patient({}), more).sort()).toEqual([
      'error required Patient.birthDate',
      'error required Patient.name',
    ]);
  });

  it('treats profiles of HL7 as profiles, although their URLs look like those of types', () => {
    const more = { baseDefinition: 'http://hl7.org/fhir/StructureDefinition/vitalsigns' };
    expect(issues([], observation({}), more)).toEqual(['error required Observation.subject']);
  });

  it('uses the snapshot if there is one', () => {
    const more = { snapshot: { element: [{ id: 'Patient.gender', path: 'Patient.gender', min: 1 }] } };
    expect(issues([{ id: 'Patient.name', min: 1 }], patient({}), more)).toEqual(['error required Patient.gender']);
  });

  it('applies only to its own type', () => {
    const profile = storedProfileOf(definition('Group', []));
    expect(
      profile && atOnce(new ProfileValidator(sources).validate(placeByItself(patient({})), profile)),
    ).toMatchObject([{ code: 'structure' }]);
  });
});

describe('slices that refer to a target', () => {
  const BOOK = 'http://p.example/book';
  const MAN = 'http://p.example/man';
  const own: ProfileSources = {
    ...sources,
    profile: (canonical) => {
      if (canonical === MAN)
        return storedProfileOf(
          definition('Patient', [{ id: 'Patient.gender', min: 1, fixedCode: 'male' }], { url: MAN }),
        );
      return canonical === BOOK ? storedProfileOf(definition('Bundle', ENTRIES, { url: BOOK })) : undefined;
    },
  };
  const ENTRIES: readonly Element[] = [
    { id: 'Bundle.entry', slicing: { discriminator: [{ type: 'profile', path: 'resource' }], rules: 'closed' } },
    { id: 'Bundle.entry:man', sliceName: 'man', min: 1, max: '1' },
    { id: 'Bundle.entry:man.resource', type: [{ code: 'Patient', profile: [MAN] }] },
  ];
  const sliced = (type: string, path: string, targetProfile: string): readonly Element[] => [
    { id: 'Observation.performer', slicing: { discriminator: [{ type, path }], rules: 'open' } },
    {
      id: 'Observation.performer:one',
      sliceName: 'one',
      min: 1,
      max: '1',
      type: [{ code: 'Reference', targetProfile: [targetProfile] }],
    },
  ];
  const PATIENT = 'http://hl7.org/fhir/StructureDefinition/Patient';
  const performers = (...performer: object[]): { resourceType: string } =>
    observation({
      contained: [patient({ id: 'm', gender: 'male' }), patient({ id: 'f', gender: 'female' })],
      performer,
    });

  function found(elements: readonly Element[], resource: { readonly resourceType: string }): string[] {
    const profile = storedProfileOf(definition(resource.resourceType, elements));
    if (profile === undefined) throw new Error('no profile');
    const issues = placesIn(resource)
      .slice(0, 1)
      .flatMap((place) => atOnce(new ProfileValidator(own).validate(place, profile)));
    return issues.map(({ severity, code }) => `${severity} ${code}`);
  }

  it.each([
    [PATIENT, [{ reference: 'Patient/1' }, { reference: 'Practitioner/1' }], []],
    [PATIENT, [{ reference: '#m' }, { reference: 'https://x.example/Practitioner/1' }], []],
    [PATIENT, [{ reference: 'urn:uuid:a1f0c1de-0000-4000-8000-000000000001', type: 'Patient' }], []],
    [PATIENT, [{ reference: 'Practitioner/1' }], ['error required']],
    [PATIENT, [{ reference: 'Patient/1' }, { reference: '#m' }], ['error structure']],
    [PATIENT, [{ reference: 'urn:uuid:a1f0c1de-0000-4000-8000-000000000001' }], ['warning informational']],
    [MAN, [{ reference: 'Patient/1' }], []],
    ['http://p.example/absent', [{ reference: 'Patient/1' }], ['warning informational']],
  ])('are assigned by the type of %s: %j', (target, performer, expected) => {
    expect(found(sliced('type', 'resolve()', target), performers(...performer))).toEqual(expected);
  });

  it.each([
    ['profile', 'resolve()', [{ reference: '#m' }, { reference: '#f' }], []],
    ['profile', 'resolve()', [{ reference: '#f' }], ['error required']],
    ['profile', 'resolve()', [{ reference: 'Patient/1' }], ['warning informational']],
    ['value', 'resolve().gender', [{ reference: '#m' }, { reference: '#f' }], []],
    ['value', 'resolve().gender', [{ reference: '#f' }], ['error required']],
    ['value', 'resolve().gender', [{ reference: 'Patient/1' }], ['warning informational']],
    ['exists', 'resolve().gender', [{ reference: '#f' }], []],
    ['value', 'resolve().resolve()', [{ reference: '#f' }], ['warning informational']],
  ])('are assigned by %s of %s: %j', (type, path, performer, expected) => {
    expect(found(sliced(type, path, MAN), performers(...performer))).toEqual(expected);
  });

  it('are assigned by the profile of the entries of a Bundle', () => {
    const bundle = (...gender: string[]): { resourceType: string } => ({
      resourceType: 'Bundle',
      ...{ entry: gender.map((one) => ({ resource: patient({ gender: one }) })) },
    });
    expect(found(ENTRIES, bundle('male'))).toEqual([]);
    expect(found(ENTRIES, bundle('female')).sort()).toEqual(['error required', 'error structure']);
  });

  it('find resources in other entries of the Bundle', () => {
    const bundle = {
      resourceType: 'Bundle',
      entry: [
        {
          fullUrl: 'http://x.example/Observation/1',
          resource: observation({ performer: [{ reference: 'Patient/1' }, { reference: 'urn:uuid:2' }] }),
        },
        { fullUrl: 'http://x.example/Patient/1', resource: patient({ gender: 'male' }) },
        { fullUrl: 'urn:uuid:2', resource: patient({ gender: 'female' }) },
      ],
    };
    const profile = storedProfileOf(definition('Observation', sliced('profile', 'resolve()', MAN)));
    const [, place] = placesIn(bundle);
    expect(place?.path).toEqual(['Bundle', 'entry', 0, 'resource']);
    expect(place && profile && atOnce(new ProfileValidator(own).validate(place, profile))).toEqual([]);
  });

  it('read a fullUrl of 60,000 letters in less than a second', () => {
    const entry = [{ fullUrl: 'A'.repeat(60_000), resource: observation({}) }];
    const [, place] = placesIn({ resourceType: 'Bundle', entry });
    const startedAt = performance.now();
    expect(place && resolveFrom(place, { reference: 'Patient/1' })).toEqual({ type: 'Patient' });
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('test a resource once by the profile, however many references lead to it', () => {
    const readsOf = (references: number): number => {
      let reads = 0;
      const gender = { enumerable: true, get: () => ((reads += 1), 'male') };
      const performer = Array.from({ length: references }, () => ({ reference: 'Patient/1' }));
      const bundle = {
        resourceType: 'Bundle',
        entry: [
          { fullUrl: 'http://x.example/Observation/1', resource: observation({ performer }) },
          { fullUrl: 'http://x.example/Patient/1', resource: Object.defineProperty(patient({}), 'gender', gender) },
        ],
      };
      const profile = storedProfileOf(definition('Observation', sliced('profile', 'resolve()', MAN)));
      const [, place] = placesIn(bundle);
      if (place === undefined || profile === undefined) throw new Error('no place');
      atOnce(new ProfileValidator(own).validate(place, profile));
      return reads;
    };
    expect(readsOf(50)).toBe(readsOf(1));
    expect(readsOf(1)).toBeGreaterThan(0);
  });

  it('find resources in Parameters and their parts', () => {
    const parameters = {
      resourceType: 'Parameters',
      parameter: [{ name: 'a', part: [{ name: 'b', resource: patient({ contained: [patient({ id: 'c' })] }) }] }],
    };
    expect(placesIn(parameters).map(({ path }) => path.join('.'))).toEqual([
      'Parameters',
      'Parameters.parameter.0.part.0.resource',
      'Parameters.parameter.0.part.0.resource.contained.0',
    ]);
  });
});
