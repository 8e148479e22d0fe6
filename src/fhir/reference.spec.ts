import { describe, expect, it } from '@jest/globals';
import { canonicalKeysOf, isFhirId, parseReference, referenceTargetOf } from './reference';

const base = 'https://health.example/svc';

describe(parseReference.name, () => {
  it('reads a relative reference, and omits the version from its key', () => {
    expect(parseReference('Patient/p7', base)).toEqual({ kind: 'local', key: 'Patient/p7', type: 'Patient', id: 'p7' });
    expect(parseReference('SDCDocument/d.1/_history/3', base)).toEqual({
      kind: 'local',
      key: 'SDCDocument/d.1',
      type: 'SDCDocument',
      id: 'd.1',
      version: '3',
    });
  });

  it.each([`${base}/Patient/p7`, `${base}/fhir/Patient/p7`, `${base}/fhir/Patient/p7/_history/2`])(
    'reads %s below its own base as Patient/p7',
    (url) => {
      expect(parseReference(url, base)).toMatchObject({ kind: 'local', key: 'Patient/p7' });
    },
  );

  it('uses the whole URL of a resource on another server as the key, and reads the type from it', () => {
    expect(parseReference('https://other.example/fhir/Patient/p7/_history/2', base)).toEqual({
      kind: 'absolute',
      key: 'https://other.example/fhir/Patient/p7',
      type: 'Patient',
      version: '2',
    });
    expect(parseReference('http://acme.example/anything?a=b', base)).toEqual({
      kind: 'absolute',
      key: 'http://acme.example/anything?a=b',
    });
  });

  it('treats a host whose name only starts like its own as another server', () => {
    expect(parseReference(`${base}2/Patient/p7`, base)).toMatchObject({ kind: 'absolute', key: `${base}2/Patient/p7` });
  });

  it('returns URNs unchanged', () => {
    expect(parseReference('urn:uuid:c757873d-ec9a-4326-a141-556f43239520', base)).toEqual({
      kind: 'urn',
      key: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
    });
    expect(parseReference('urn:oid:1.2.3', base)).toEqual({ kind: 'urn', key: 'urn:oid:1.2.3' });
  });

  it('recognizes contained resources', () => {
    expect(parseReference('#p1', base)).toEqual({ kind: 'contained', id: 'p1' });
  });

  it.each([
    '',
    'Patient',
    'Patient/',
    'patient/p7',
    '/Patient/p7',
    'Patient/p 7',
    'Patient/p7/',
    'Patient?identifier=x',
    'urn:x',
    'a b://c',
  ])('refuses %j', (text) => {
    expect(parseReference(text, base)).toBeUndefined();
  });
});

describe(referenceTargetOf.name, () => {
  it('reads both forms of a reference to the same key', () => {
    expect(referenceTargetOf({ reference: 'Patient/p7', display: 'Ann' }, base)).toEqual(
      referenceTargetOf({ resourceType: 'Patient', id: 'p7', display: 'Ann' }, base),
    );
  });

  it.each([
    undefined,
    null,
    'Patient/p7',
    7,
    [],
    {},
    { identifier: { value: 'x' } },
    { reference: 5 },
    { id: 'p7' },
    { resourceType: 'Patient', id: '' },
  ])('finds no target in %j', (value) => {
    expect(referenceTargetOf(value, base)).toBeUndefined();
  });
});

describe(canonicalKeysOf.name, () => {
  it('returns the keys of a canonical with and without its version', () => {
    expect(canonicalKeysOf('http://acme.example/Questionnaire/q|1.2#part', base)).toEqual([
      'http://acme.example/Questionnaire/q',
      'http://acme.example/Questionnaire/q|1.2',
    ]);
    expect(canonicalKeysOf('http://acme.example/q', base)).toEqual(['http://acme.example/q']);
    expect(canonicalKeysOf(`${base}/fhir/Questionnaire/q|1`, base)).toEqual(['Questionnaire/q', 'Questionnaire/q|1']);
  });

  it('returns no key for a contained resource', () => {
    expect(canonicalKeysOf('#q', base)).toEqual([]);
  });
});

describe(isFhirId.name, () => {
  it.each([
    ['a', true],
    ['A-1.b', true],
    ['x'.repeat(64), true],
    ['', false],
    ['x'.repeat(65), false],
    ['a_b', false],
    ['a/b', false],
    ['a\n', false],
  ])('returns for %j: %s', (text, isId) => {
    expect(isFhirId(text)).toBe(isId);
  });
});
