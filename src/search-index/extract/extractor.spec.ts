import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { elementsOfType } from '../../fhir/definitions/definitions';
import { earliestInstant, latestInstant } from '../../fhir/instant';
import { atOnce } from '../../platform/time/steps';
import { extractorsBy } from './extractor';
import { parameterIdOf } from './hash';
import { RowHashes } from './row-hashes';
import { SearchParameterSet } from './search-parameter-set';
import { type SearchRows } from './search-rows';

const hashes = new RowHashes({ low: 1, high: 2 });

const parameters = new SearchParameterSet([
  { type: 'SDCDocument', code: 'patient', kind: 'reference', expression: 'SDCDocument.patient' },
  { type: 'SDCDocument', code: 'type', kind: 'token', expression: 'SDCDocument.type' },
]);
const extractorOf = extractorsBy(parameters, hashes, 'http://localhost:3000');

type Json = Record<string, unknown>;

function extract(resource: Json & { resourceType: string }): SearchRows {
  return atOnce(extractorOf(resource.resourceType)(resource));
}

const id = parameterIdOf;
const token = (type: string, code: string, value: string, system?: string): object => ({
  hash: hashes.ofToken(id(type, code), value),
  systemHash: hashes.ofSystem(system),
});
const link = (type: string, code: string, key: string): object => ({
  targetHash: hashes.ofTarget(key),
  parameterId: id(type, code),
});

function presentCodes(type: string, { present }: SearchRows): string[] {
  return parameters
    .list(type)
    .filter(({ presenceMask }) => (present & presenceMask) !== 0n)
    .map(({ code }) => code)
    .sort();
}

const observation = {
  resourceType: 'Observation',
  id: 'o1',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }], text: 'Blood pressure' },
  subject: { reference: 'Patient/p7' },
  effectiveDateTime: '2023-02-05T10:00:00Z',
  component: [
    { code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] }, valueQuantity: { value: 107 } },
    {
      code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }, { code: 'systolic' }] },
      valueQuantity: { value: 108 },
    },
  ],
};

describe('an extractor', () => {
  it('returns each row of a resource once', () => {
    const at = Date.parse('2023-02-05T10:00:00Z');
    const rows = extract(observation);
    expect(rows).toEqual({
      mainDate: at,
      patientHash: hashes.ofTarget('Patient/p7'),
      present: rows.present,
      tokens: [
        token('Observation', 'status', 'final'),
        token('Observation', 'code', '85354-9', 'http://loinc.org'),
        token('Observation', 'component-code', '8480-6', 'http://loinc.org'),
        token('Observation', 'component-code', 'systolic'),
      ],
      references: [link('Observation', 'subject', 'Patient/p7')],
      dates: [{ parameterId: id('Observation', 'date'), low: at, high: at + 999 }],
      numbers: [
        ...[
          ['8480-6', 107],
          ['8480-6', 108],
          ['systolic', 108],
        ].map(([code, value]) => ({
          parameterId: id('Observation', 'component-code-value-quantity'),
          codeHash: hashes.ofText(String(code)),
          value,
          unitHash: 0,
        })),
        ...[107, 108].map((value) => ({
          parameterId: id('Observation', 'component-value-quantity'),
          codeHash: 0,
          value,
          unitHash: 0,
        })),
      ],
      strings: [],
      units: [],
    });
    expect(presentCodes('Observation', rows)).toEqual([
      'code',
      'combo-code',
      'combo-value-quantity',
      'component-code',
      'component-value-quantity',
      'date',
      'patient',
      'status',
      'subject',
    ]);
  });

  it('returns rows for tokens of every data type', () => {
    const rows = extract({
      resourceType: 'Patient',
      id: 'p7',
      active: true,
      identifier: [{ system: 'urn:oid:1.2', value: '12345' }, { system: 'urn:oid:1.2' }],
      telecom: [{ system: 'phone', value: '555' }],
      meta: { tag: [{ system: 'http://t', code: 'x' }], profile: ['http://p|1.0'] },
    });
    expect(rows.tokens).toEqual([
      token('Patient', 'deceased', 'false'),
      token('Patient', 'active', 'true'),
      token('Patient', 'identifier', '12345', 'urn:oid:1.2'),
      token('Patient', 'phone', '555', 'phone'),
      token('Patient', 'telecom', '555', 'phone'),
      token('Patient', '_profile', 'http://p|1.0'),
      token('Patient', '_profile', 'http://p'),
      token('Patient', '_tag', 'x', 'http://t'),
    ]);
  });

  it('sets the patient hash of a Patient to its own hash', () => {
    expect(extract({ resourceType: 'Patient', id: 'p7' }).patientHash).toBe(hashes.ofTarget('Patient/p7'));
  });

  it('sets no patient hash if a type may refer to several patients', () => {
    const participant = [{ actor: { reference: 'Patient/a' } }, { actor: { reference: 'Patient/b' } }];
    const rows = extract({ resourceType: 'Appointment', participant });
    expect(rows.patientHash).toBe(0);
    expect(rows.references).toEqual([
      link('Appointment', 'actor', 'Patient/a'),
      link('Appointment', 'actor', 'Patient/b'),
    ]);
  });

  it('ignores a subject that is no Patient', () => {
    const rows = extract({ ...observation, subject: { reference: 'Group/g' } });
    expect(rows.patientHash).toBe(0);
    expect(presentCodes('Observation', rows)).toContain('subject');
    expect(presentCodes('Observation', rows)).not.toContain('patient');
  });

  it('stores canonicals with and without their version, and own URLs as local references', () => {
    const rows = extract({
      resourceType: 'QuestionnaireResponse',
      questionnaire: 'http://q|2',
      subject: { reference: 'http://localhost:3000/fhir/Patient/p7/_history/3' },
    });
    expect(rows.references).toEqual([
      link('QuestionnaireResponse', 'questionnaire', 'http://q'),
      link('QuestionnaireResponse', 'questionnaire', 'http://q|2'),
      link('QuestionnaireResponse', 'subject', 'Patient/p7'),
    ]);
  });

  it('stores no row for a contained resource, but records its presence', () => {
    const contained = [{ resourceType: 'Patient', id: 'x' }];
    const rows = extract({ resourceType: 'Observation', contained, subject: { reference: '#x' } });
    expect(rows.references).toEqual([]);
    expect(presentCodes('Observation', rows)).toEqual(['patient', 'subject']);
  });

  it("reads native references and plain members of the server's own types", () => {
    const rows = extract({ resourceType: 'SDCDocument', type: 'note', patient: { resourceType: 'Patient', id: 'p7' } });
    expect(rows).toMatchObject({
      patientHash: hashes.ofTarget('Patient/p7'),
      tokens: [token('SDCDocument', 'type', 'note')],
      references: [link('SDCDocument', 'patient', 'Patient/p7')],
    });
  });

  describe('of dates', () => {
    const ranges = (effective: Json): unknown => {
      const { dates, mainDate } = extract({ resourceType: 'Observation', ...effective });
      return [mainDate, ...dates.map(({ low, high }) => [low, high])];
    };
    const day = Date.parse('2023-02-05');

    it('extends open ends of a period to the limits, and uses the end as main date if there is no start', () => {
      expect(ranges({ effectivePeriod: { start: '2023-02-05' } })).toEqual([day, [day, latestInstant]]);
      expect(ranges({ effectivePeriod: { end: '2023-02-05' } })).toEqual([
        day + 86_399_999,
        [earliestInstant, day + 86_399_999],
      ]);
    });

    it('uses the outer limits of a Timing', () => {
      const event = ['2023-02-06', '2023-02-05', 5, { event: [] }];
      const end = Date.parse('2023-03-01') - 1;
      expect(ranges({ effectiveTiming: { event } })).toEqual([day, [day, day + 2 * 86_400_000 - 1]]);
      expect(
        ranges({ effectiveTiming: { event, repeat: { boundsPeriod: { start: '2023-02-05', end: '2023-02' } } } }),
      ).toEqual([day, [day, end]]);
      expect(ranges({ effectiveTiming: { repeat: { count: 3 } } })).toEqual([undefined]);
    });

    it('returns no row for an invalid date', () => {
      expect(ranges({ effectiveDateTime: 'soon' })).toEqual([undefined]);
    });
  });

  it('never throws, and returns rows within their limits, for any element values', () => {
    const types = ['Observation', 'Patient', 'Bundle', 'AuditEvent', 'MedicationRequest', 'SDCDocument'];
    const members = types.flatMap((type) =>
      [...(elementsOfType(type)?.values() ?? [])].flatMap(({ name, isChoice, types: names }) =>
        isChoice ? names.map((part) => name + part.charAt(0).toUpperCase() + part.slice(1)) : [name],
      ),
    );
    const inner = [
      'coding',
      'code',
      'system',
      'value',
      'reference',
      'start',
      'end',
      'event',
      'repeat',
      'url',
      'resource',
      'id',
      'type',
    ];
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, 0, -1.5, '', 'x', 'Patient/p', '#p', '2023', 'urn:uuid:x', '__proto__'),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...inner), tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const resources = fc.record({
      resourceType: fc.constantFrom(...types),
      content: fc.dictionary(fc.constantFrom(...members, 'meta', 'contained', 'id', 'patient'), tree, { maxKeys: 12 }),
    });
    fc.assert(
      fc.property(resources, ({ resourceType, content }) => {
        const rows = extract({ ...content, resourceType });
        expect(rows.present >= 0n && rows.present < 2n ** 63n).toBe(true);
        for (const { low, high } of rows.dates)
          expect(earliestInstant <= low && low <= high && high <= latestInstant).toBe(true);
        for (const { systemHash } of rows.tokens) expect(systemHash).toBe(systemHash | 0);
        const all = [...rows.tokens, ...rows.references, ...rows.dates].map((row) => JSON.stringify(row));
        expect(new Set(all).size).toBe(all.length);
        const large = extractorOf(resourceType)({ ...content, resourceType }, { characters: 1_000_000 });
        expect(atOnce(large)).toEqual(rows);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['codings', { code: { coding: Array.from({ length: 6_400 }, (_value, at) => ({ code: `c${at}` })) } }],
    [
      'items',
      { component: Array.from({ length: 6_400 }, (_value, at) => ({ code: { coding: [{ code: `c${at}` }] } })) },
    ],
  ])('pauses in the %s of a large resource', (_what, members) => {
    const resource = { resourceType: 'Observation', ...members };
    const pauses = [...extractorOf('Observation')(resource, { characters: 100_000 })].length;
    expect(pauses).toBeGreaterThanOrEqual(100);
    expect(atOnce(extractorOf('Observation')(resource, { characters: 100_000 }))).toEqual(extract(resource));
  });

  const codings = (count: number): object => ({
    coding: Array.from({ length: count }, (_value, index) => ({ code: String(index) })),
  });
  const wide = (count: number): Json & { resourceType: string } => ({
    resourceType: 'Observation',
    code: codings(count),
    valueCodeableConcept: codings(count),
  });

  it('refuses a resource with too many pairs before it builds them', () => {
    expect(() => extract(wide(1000))).toThrow('pair more than 20000 values');
    expect(extract(wide(50)).tokens.length).toBeGreaterThan(2500);
  });

  it('pauses between many pairs, even in a small resource', () => {
    expect([...extractorOf('Observation')(wide(10))]).toEqual([]);
    expect([...extractorOf('Observation')(wide(140))].length).toBeGreaterThanOrEqual(140);
    expect(extract(wide(140)).tokens.length).toBeGreaterThan(140 * 140);
  });
});
