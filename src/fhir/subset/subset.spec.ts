import { describe, expect, it } from '@jest/globals';
import { askedElements, type ElementPaths } from './element-paths';
import { readSubset } from './read-subset';
import { atOnce } from '../../platform/time/steps';
import { type Subset, subsetOf } from './subset';

const TAG = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };

const PATIENT = {
  resourceType: 'Patient',
  id: 'p7',
  meta: { versionId: '2', tag: [{ code: 'kept' }] },
  implicitRules: 'http://x.example',
  text: { status: 'generated', div: '<div/>' },
  modifierExtension: [{ url: 'http://x.example/not', valueBoolean: true }],
  extension: [{ url: 'http://x.example/race' }],
  name: [{ family: 'Rivera', given: ['Ana'], extension: [{ url: 'http://x.example/n' }] }],
  birthDate: '1986-03-14',
  _birthDate: { extension: [{ url: 'http://x.example/time' }] },
  photo: [{ contentType: 'image/png', data: 'aGk=' }],
  contact: [{ name: { family: 'Lind' }, gender: 'male' }],
  communication: [{ language: { text: 'sv' }, preferred: true }],
  link: [{ other: { reference: 'Patient/p8' }, type: 'seealso', id: 'l1' }],
};

const OBSERVATION = {
  resourceType: 'Observation',
  id: 'o1',
  meta: { versionId: '1' },
  status: 'final',
  code: { text: 'Pressure' },
  note: [{ text: 'long' }],
  valueQuantity: { value: 1, unit: 'kPa' },
  component: [{ code: { text: 'systolic' }, valueQuantity: { value: 2 }, interpretation: [{ text: 'high' }] }],
};

const OF_ANY = { types: [], prefer: undefined };

const shown = (text: string, subset: Subset): string => atOnce(subsetOf(text, subset));

const part = (resource: object, query: string): Record<string, unknown> => {
  const subset = readSubset(new URLSearchParams(query), OF_ANY);
  if (subset === undefined || subset === 'count') throw new Error(`${query} asks for no part`);
  return JSON.parse(shown(JSON.stringify(resource), subset)) as Record<string, unknown>;
};

describe(subsetOf.name, () => {
  it('S23: pauses while it reads and while it prints', () => {
    const name = Array.from({ length: 20_000 }, (_, n) => ({ family: `f${n}` }));
    const steps = subsetOf(JSON.stringify({ ...PATIENT, name }), { elements: askedElements([['name']], []) });
    // The text is parsed and printed. Each of these pauses after some 2,000 values.
    expect([...steps].length).toBeGreaterThan(30);
  });

  it.each([
    ['is deeper than a body may be', `${'['.repeat(80)}${']'.repeat(80)}`],
    ['has more values than a body may have', `[${'0,'.repeat(1_000_000)}0]`],
  ])('returns a subset of a stored resource that %s', (_what, diff) => {
    const text = `{"resourceType":"SDCAddendum","id":"a1","meta":{},"type":"svc/Amendment","diff":${diff}}`;
    const subset = readSubset(new URLSearchParams('_elements=type'), OF_ANY);
    if (subset === undefined || subset === 'count') throw new Error('asks for no part');
    expect(JSON.parse(shown(text, subset))).toEqual({
      ...{ resourceType: 'SDCAddendum', id: 'a1', type: 'svc/Amendment' },
      meta: { tag: [TAG] },
    });
    expect(shown(text, { summary: 'data' })).toContain(diff);
  });

  it('returns the summary elements, including those of data types', () => {
    const { resourceType, id, implicitRules, modifierExtension, birthDate, _birthDate } = PATIENT;
    expect(part(PATIENT, '_summary=true')).toEqual({
      ...{ resourceType, id, implicitRules, modifierExtension, birthDate, _birthDate },
      meta: { versionId: '2', tag: [{ code: 'kept' }, TAG] },
      name: [{ family: 'Rivera', given: ['Ana'] }],
      link: PATIENT.link,
    });
    expect(part(OBSERVATION, '_summary=true')).toMatchObject({
      status: 'final',
      valueQuantity: { value: 1, unit: 'kPa' },
      component: [{ code: { text: 'systolic' }, valueQuantity: { value: 2 } }],
    });
  });

  it('keeps the mandatory elements in every subset', () => {
    expect(Object.keys(part(OBSERVATION, '_summary=text'))).toEqual(['resourceType', 'id', 'meta', 'status', 'code']);
    expect(Object.keys(part(OBSERVATION, '_elements=note'))).toEqual([
      ...['resourceType', 'id', 'meta', 'status', 'code', 'note'],
    ]);
  });

  it('returns only the text for _summary=text, and everything else for _summary=data', () => {
    expect(Object.keys(part(PATIENT, '_summary=text'))).toEqual([
      ...['resourceType', 'id', 'meta', 'implicitRules', 'text', 'modifierExtension'],
    ]);
    const { text: _text, ...data } = PATIENT;
    expect(part(PATIENT, '_summary=data')).toEqual({ ...data, meta: { versionId: '2', tag: [{ code: 'kept' }, TAG] } });
  });

  it.each([
    ['_elements=birthDate', { birthDate: PATIENT.birthDate, _birthDate: PATIENT._birthDate }],
    ['_elements=Patient.contact.name,Observation.note', { contact: [{ name: { family: 'Lind' } }] }],
    ['_elements=communication.preferred', { communication: [{ language: { text: 'sv' }, preferred: true }] }],
    ['_elements=name.given&_elements=photo', { name: [{ given: ['Ana'] }], photo: PATIENT.photo }],
    ['_elements=contact,-contact.gender', { contact: [{ name: { family: 'Lind' } }] }],
  ])('returns the elements of %s', (query, expected) => {
    const { resourceType, id, implicitRules, modifierExtension } = PATIENT;
    const always = { resourceType, id, implicitRules, modifierExtension, meta: expect.anything() };
    expect(part(PATIENT, query)).toEqual({ ...always, ...expected });
  });

  it('omits exactly the elements with a minus', () => {
    const { photo: _photo, ...rest } = PATIENT;
    expect(part(PATIENT, '_elements=-photo')).toEqual({ ...rest, meta: expect.anything() });
  });

  it('accepts a choice element with and without its type', () => {
    expect(part(OBSERVATION, '_elements=value')).toHaveProperty('valueQuantity.unit', 'kPa');
    expect(part(OBSERVATION, '_elements=valueQuantity')).toHaveProperty('valueQuantity.unit', 'kPa');
    expect(part(OBSERVATION, '_elements=value.value')).toHaveProperty('valueQuantity', { value: 1 });
  });

  it('keeps the digits of numbers, and adds the SUBSETTED tag once', () => {
    const text =
      '{"resourceType":"Observation","id":"o","meta":{"versionId":"1"},"status":"final","code":{},"valueQuantity":{"value":1.10}}';
    const once = shown(text, { summary: 'true' });
    expect(once).toContain('{"value":1.10}');
    expect(shown(once, { summary: 'true' })).toBe(once);
  });

  it('returns a resource whole if it has neither summary elements nor requested elements', () => {
    const text = '{"resourceType":"SDCDocument","id":"d","note":1}';
    expect(shown(text, { summary: 'true' })).toBe(text);
    expect(shown(text, { elements: askedElements([['Patient', 'name']], []) })).toBe(text);
    expect(shown(text, { elements: askedElements([['note']], []) })).toContain('"note":1');
  });

  it('returns the resources of a Bundle as summaries too', () => {
    const bundle = { resourceType: 'Bundle', type: 'collection', entry: [{ resource: PATIENT }] };
    expect(part(bundle, '_summary=true')).not.toHaveProperty('entry.0.resource.photo');
    expect(part(bundle, '_summary=true')).toHaveProperty('entry.0.resource.birthDate');
  });
});

describe(readSubset.name, () => {
  it.each([
    ['', undefined],
    ['_summary=', undefined],
    ['_summary=false', undefined],
    ['_elements=', undefined],
    ['_summary=count', 'count'],
    ['_summary=data', { summary: 'data' }],
    ['_summary=false&_elements=id', { elements: expect.any(Function) }],
  ])('reads "%s"', (query, expected) => {
    expect(readSubset(new URLSearchParams(query), OF_ANY)).toEqual(expected);
  });

  it.each([
    ...['_summary=yes', '_summary=true&_elements=id', '_elements=a..b', '_elements=name[0]', '_elements=-'],
    `_elements=${'a.'.repeat(64)}a`,
  ])('refuses "%s"', (query) => {
    expect(() => readSubset(new URLSearchParams(query), OF_ANY)).toThrow(expect.objectContaining({ kind: 'invalid' }));
  });

  it('S19: accepts 1,000 names at most, in one list or several', () => {
    const names = Array.from({ length: 1_000 }, (_, n) => `name${n}`);
    expect(readSubset(new URLSearchParams({ _elements: names.join(',') }), OF_ANY)).toBeDefined();
    for (const query of [`_elements=${[...names, 'id'].join(',')}`, `_elements=${names.join(',')}&_elements=id`])
      expect(() => readSubset(new URLSearchParams(query), OF_ANY)).toThrow('_elements takes at most 1000 names');
  });
});

describe('an element that the resources do not have', () => {
  const read = (names: string, types: readonly string[], prefer?: string): unknown =>
    readSubset(new URLSearchParams({ _elements: names }), { types, prefer });

  it.each([
    ['gendre', ['Patient'], '_elements names "gendre", which Patient does not have. Did you mean "gender"?'],
    ['name,-birthdate', ['Patient'], 'Did you mean "birthDate"?'],
    ['contact.gendre', ['Patient'], '"contact.gendre", which Patient does not have.'],
    ['valueQuantity.system,valueQuantity.start', ['Observation'], '"valueQuantity.start"'],
    ['Patient.gendre', [], '"Patient.gendre", which Patient does not have. Did you mean "gender"?'],
    ['gendre', ['Patient', 'Person'], '"gendre", which none of the searched types has. Did you mean "gender"?'],
  ])('refuses "%s" of %j', (names, types, message) => {
    expect(() => read(names, types)).toThrow(message);
    expect(() => read(names, types, 'handling=strict')).toThrow(message);
    expect(read(names, types, 'handling=lenient')).toBeDefined();
  });

  it.each([
    ['gender,contact.name.given,_birthDate,birthDate.extension,id,resourceType,meta.tag', ['Patient']],
    ['value,valueQuantity,value.system,component.value.unit', ['Observation']],
    ['item.item.item.text', ['Questionnaire']],
    ['contained.gendre,entry.resource.gendre', ['Bundle', 'Patient']],
    ['gender', ['Observation', 'Patient']],
    ['anything', ['Patient', 'SDCDocument']],
    ['anything', []],
  ])('accepts "%s" of %j', (names, types) => {
    expect(read(names, types)).toBeDefined();
  });
});

describe(askedElements.name, () => {
  it('S19: builds one tree for all resources of a type, and looks up paths in it', () => {
    let looks = 0;
    const names = Array.from({ length: 1_000 }, (_, n) => [`name${n}`, 'given']);
    const watched = names.map(
      (path) => new Proxy(path, { get: (of, key) => (looks++, Reflect.get(of, key) as unknown) }),
    );
    const asked = askedElements(watched, []);
    const tree = asked('Patient') as ElementPaths;
    const before = looks;
    for (let n = 0; n < 1_000; n++) {
      expect(asked('Patient')).toBe(tree);
      expect([tree.below(`name${n}`), tree.below('photo')]).toEqual([expect.anything(), undefined]);
    }
    expect(looks).toBe(before);
  });

  it.each([
    [[['a']], [['a', 'b']], { a: { b: 'none', c: 'all' }, x: undefined }],
    [[['a', 'b']], [['a']], { a: 'none' }],
    [[['a', 'b']], [['c', 'd']], { a: { b: 'all', c: undefined }, c: undefined }],
    [[], [['a', 'b', 'c']], { a: { b: { c: 'none', d: 'all' }, x: 'all' }, x: 'all' }],
    [[['Patient']], [], { a: undefined }],
    [
      [
        ['a', 'b'],
        ['Patient', 'a', 'c'],
        ['Group', 'd'],
      ],
      [],
      { a: { b: 'all', c: 'all' }, _a: {}, d: undefined },
    ],
  ])('keeps %j and omits %j', (kept, dropped, expected) => {
    const assertBelow = (paths: ElementPaths, wanted: object): void => {
      for (const [name, below] of Object.entries(wanted) as [string, unknown][]) {
        const found = paths.below(name);
        if (typeof below !== 'object' || below === null) expect([name, found]).toEqual([name, below]);
        else if (typeof found === 'object') assertBelow(found, below);
        else throw new Error(`${name} is ${String(found)}`);
      }
    };
    assertBelow(askedElements(kept, dropped)('Patient') as ElementPaths, expected);
  });
});
