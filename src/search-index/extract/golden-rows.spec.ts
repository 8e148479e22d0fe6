import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { r4ResourceTypes } from '../../fhir/definitions/definitions';
import { atOnce } from '../../platform/time/steps';
import { extractorsBy } from './extractor';
import { RowHashes } from './row-hashes';
import { parameterDigest } from './parameter-digest';
import { ROWS_VERSIONS } from './rows-version';
import { SearchParameterSet } from './search-parameter-set';

/**
 * Digests of the index rows of fixed resources, with the versions of the code that makes the rows. If the test fails,
 * the code makes other rows than those stored. Raise the version of the changed code in rows-version.ts, so that
 * servers rebuild the rows of stored resources, and note the shown digest under the new versions. If only HL7's
 * definitions changed, note the digest only: servers detect changed definitions.
 */
const GOLDEN = {
  versions: { extraction: 1, folding: 1, hashing: 1 },
  rows: {
    Patient: 'wkGnOsiO_5TBy5DL',
    Observation: '7fBKBmvUkzHJRFE_',
    Encounter: '42_dBU7Uy0xUXuTb',
    Location: 'HjREWzg0pKuvnC1T',
    ValueSet: 'f4-JTtNVZv3Qbevw',
    MedicationRequest: 'XWPfb9Yum3BoIgp3',
    ChargeItem: 'VUbdUvIcxIpMVqrt',
    List: 'YuIyiaM20lNFXH_J',
    Basic: 'L4rliRuF-CMH50GL',
  },
  parameters: 'VMABz_NL_N-3m8d2',
};

const token = (system: string, code: string): object => ({ coding: [{ system, code }], text: `Text of ${code}` });
const reference = (to: string): object => ({ reference: to });

const RESOURCES: readonly { readonly resourceType: keyof typeof GOLDEN.rows; readonly [member: string]: unknown }[] = [
  {
    resourceType: 'Patient',
    id: 'p1',
    meta: {
      tag: [{ system: 'http://a.example', code: 't' }],
      profile: ['http://p.example/a|2'],
      lastUpdated: '2026-01-01T00:00:00Z',
    },
    language: 'de',
    active: false,
    name: [{ family: 'Muñoz-Ångström', given: ['ÆØÅ', '  José   Luis '], text: 'ǅ ß İ' }, { text: '山田' }],
    identifier: [{ system: 'urn:oid:1', value: 'A-1' }, { value: 'b' }],
    telecom: [
      { system: 'phone', value: '+43 1' },
      { system: 'email', value: 'A@b.example' },
    ],
    address: [{ line: ['Main St 1'], city: 'Łódź', postalCode: '90-001', country: 'PL', use: 'home' }],
    birthDate: '1980-02',
    deceasedDateTime: '2025-12-31T23:59:60+14:00',
    generalPractitioner: [reference('Practitioner/d1'), reference('http://svc.example/Organization/o1')],
    link: [{ other: reference('http://elsewhere.example/Patient/x'), type: 'seealso' }],
  },
  {
    resourceType: 'Observation',
    id: 'o1',
    status: 'final',
    category: [token('http://c.example', 'vital-signs')],
    code: token('http://loinc.org', '85354-9'),
    subject: reference('Patient/p1'),
    encounter: reference('Encounter/e1'),
    focus: [reference('#inside'), { identifier: { system: 'urn:x', value: 'y' } }],
    effectivePeriod: { start: '2026-01-01', end: '2026-01-02T10:00:00.5Z' },
    component: [
      {
        code: token('http://loinc.org', '8480-6'),
        valueQuantity: { value: 120.5, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
      },
      { code: token('http://loinc.org', '8462-4'), valueQuantity: { value: -0.00001, unit: 'mmHg' } },
      { code: token('http://loinc.org', 'concept'), valueCodeableConcept: token('http://v.example', 'V') },
    ],
    valueSampledData: { origin: { value: 1 }, period: 2, dimensions: 1, lowerLimit: 1.5, upperLimit: 9 },
    contained: [{ resourceType: 'Group', id: 'inside' }],
  },
  {
    resourceType: 'Encounter',
    id: 'e1',
    status: 'finished',
    class: { system: 'http://a.example', code: 'AMB' },
    subject: { type: 'Patient', reference: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0' },
    participant: [{ type: [token('http://t.example', 'ATND')], individual: reference('Practitioner/d1') }],
    period: { end: '2026-01-03' },
    length: { value: 3, unit: 'h', system: 'http://unitsofmeasure.org', code: 'h' },
  },
  {
    resourceType: 'Location',
    id: 'l1',
    name: 'Ward 3',
    position: { latitude: 48.2082, longitude: 16.3738 },
    partOf: reference('Location/l0'),
  },
  {
    resourceType: 'ValueSet',
    id: 'v1',
    url: 'http://v.example/set',
    version: '1.0',
    status: 'active',
    date: '2026',
    title: 'A set',
    useContext: [{ code: { code: 'focus' }, valueQuantity: { value: 7, unit: 'a' } }],
    compose: { include: [{ system: 'http://loinc.org', valueSet: ['http://v.example/other|2'] }] },
  },
  {
    resourceType: 'MedicationRequest',
    id: 'm1',
    status: 'active',
    intent: 'order',
    medicationReference: reference('#m'),
    contained: [{ resourceType: 'Medication', id: 'm' }],
    subject: reference('Patient/p1'),
    authoredOn: '2026-05',
    dosageInstruction: [
      { timing: { event: ['2026-01-05', '2026-01-02T08:00:00Z'], repeat: { boundsPeriod: { start: '2026-01-01' } } } },
    ],
  },
  {
    resourceType: 'ChargeItem',
    id: 'c1',
    status: 'billable',
    code: token('http://x.example', 'X'),
    subject: reference('Group/g1'),
    priceOverride: { value: 12.1, currency: 'EUR' },
    factorOverride: 0.8,
    occurrenceTiming: { repeat: { boundsPeriod: { end: '2026-02-01' } } },
  },
  {
    resourceType: 'List',
    id: 'li',
    status: 'current',
    mode: 'working',
    title: 'Öffnungs  LISTE',
    entry: [{ item: reference('Observation/o1') }, { item: reference('Observation/o1') }],
    note: [{ text: 'none' }],
  },
  {
    resourceType: 'Basic',
    id: 'b1',
    code: { text: 'only a text' },
    created: '2026-01-01',
    subject: reference('Patient/p1/_history/3'),
    author: { reference: 'Practitioner/d2', type: 'Practitioner' },
    identifier: [{ value: 'b' }],
  },
];

const set = new SearchParameterSet();
const extractorOf = extractorsBy(set, new RowHashes({ low: 1, high: 2 }), 'http://svc.example');

const digestOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member)))
    .digest('base64url')
    .slice(0, 16);

/** The failure message with the remedy. */
const ASKED = 'the rows of stored resources change: raise a version in rows-version.ts and note the digests';

describe('search rows of fixed resources', () => {
  it('H1: are recorded for the present versions of the code', () => {
    expect({ [ASKED]: ROWS_VERSIONS }).toEqual({ [ASKED]: GOLDEN.versions });
  });

  it.each(RESOURCES.map((resource) => [resource.resourceType, resource] as const))(
    'H1: equal the recorded digest for %s',
    (type, resource) => {
      const { present, ...found } = atOnce(extractorOf(type)(resource));
      // The database assigns the bits of the presence mask, so only the number of set bits is compared.
      const strings = found.strings.map(({ parameterId, value }) => ({ parameterId, value }));
      const rows = { ...found, strings, presentCount: present.toString(2).replaceAll('0', '').length };
      expect(rows.tokens.length + rows.references.length + rows.numbers.length + rows.strings.length).toBeGreaterThan(
        2,
      );
      expect({ [ASKED]: digestOf(rows) }).toEqual({ [ASKED]: GOLDEN.rows[type] });
    },
  );

  it('H1: use the recorded search parameters', () => {
    const digests = [...r4ResourceTypes()].flatMap((type) =>
      set.list(type).map((parameter) => [type, parameter.code, parameterDigest(parameter, set)]),
    );
    expect(digests.length).toBeGreaterThan(2_000);
    expect({ [ASKED]: digestOf(digests) }).toEqual({ [ASKED]: GOLDEN.parameters });
  });
});
