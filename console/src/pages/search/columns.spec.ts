import { describe, expect, it } from '@jest/globals';
import { columnsOf, shortText } from './columns';

describe(columnsOf, () => {
  const rows = (resources: readonly Record<string, unknown>[]): unknown[] =>
    resources.map((one) => Object.fromEntries(columnsOf(resources).map(({ label, textOf }) => [label, textOf(one)])));

  it('shows code, value, status, date and subject of an Observation', () => {
    expect(
      rows([
        {
          code: { coding: [{ code: '8302-2', display: 'Body height' }] },
          valueQuantity: { value: 170.2, unit: 'cm' },
          status: 'final',
          effectiveDateTime: '2026-01-31',
          subject: { reference: 'Patient/p1' },
        },
      ]),
    ).toEqual([{ What: 'Body height', Value: '170.2 cm', Status: 'final', Date: '2026-01-31', Of: 'Patient/p1' }]);
  });

  it('shows the names of persons, in FHIR types and in types of this server', () => {
    expect(rows([{ name: [{ given: ['Ana', 'B.'], family: 'Rivera' }], birthDate: '1970-01-01' }])).toEqual([
      { Name: 'Ana B. Rivera', 'Birth date': '1970-01-01' },
    ]);
    expect(rows([{ userName: 'nurse', name: { givenName: 'Noor', familyName: 'Brandt' } }])).toEqual([
      { Name: 'Noor Brandt' },
    ]);
  });

  it('omits columns that are empty in all rows, and returns at most five', () => {
    expect(columnsOf([{}])).toEqual([]);
    const all = { name: 'a', code: 'b', value: 'c', status: 'd', date: 'e', subject: 'f', identifier: 'g' };
    expect(columnsOf([all])).toHaveLength(5);
  });
});

describe(shortText, () => {
  it.each<[unknown, string]>([
    [null, ''],
    [undefined, ''],
    [false, 'false'],
    [{}, ''],
    [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
    [{ start: '2026', end: '2027' }, '2026 – 2027'],
    [{ resourceType: 'User', id: 'u1' }, 'User/u1'],
    [{ coding: [{ code: 'x' }, { display: 'X' }] }, 'x'],
    ['2026-01-31T09:14:07.482+01:00', '2026-01-31 09:14'],
    ['<b>bold</b>', '<b>bold</b>'],
    ['x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('returns for %j the text %j', (value, text) => {
    expect(shortText(value)).toBe(text);
  });
});
