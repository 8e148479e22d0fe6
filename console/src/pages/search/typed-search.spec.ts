import { describe, expect, it } from '@jest/globals';
import { askedSearch, pastedSearch, withRowsOf } from './typed-search';

describe(withRowsOf, () => {
  it('splits a query that was typed into the name of a row into rows', () => {
    const rows = [
      { key: 0, name: 'status', value: 'final' },
      { key: 3, name: 'code=8302-2&_sort=-date', value: '' },
      { key: 4, name: '', value: '' },
    ];
    expect(withRowsOf({ type: 'Observation', rows })).toEqual({
      type: 'Observation',
      rows: [
        { key: 0, name: 'status', value: 'final' },
        { key: 1, name: 'code', value: '8302-2' },
        { key: 2, name: '_sort', value: '-date' },
        { key: 3, name: '', value: '' },
      ],
    });
  });

  it('leaves other drafts unchanged', () => {
    const rows = [{ key: 7, name: 'status', value: 'a=b' }];
    expect(withRowsOf({ type: 'Observation', rows }).rows).toBe(rows);
  });
});

describe(pastedSearch, () => {
  it.each([
    'Observation?code=http://loinc.org%7C8302-2&date=gt2020&date=lt2021',
    'GET /fhir/Observation?code=http://loinc.org%7C8302-2&date=gt2020&date=lt2021',
    ' https://h.example:1/below/fhir/Observation?code=http://loinc.org|8302-2&date=gt2020&date=lt2021 ',
    '/Observation?code=http%3A%2F%2Floinc.org%7C8302-2&date=gt2020&date=lt2021',
  ])('reads %s', (text) => {
    const draft = pastedSearch(text);
    expect(draft?.rows.at(-1)).toEqual({ key: 3, name: '', value: '' });
    expect(askedSearch(draft ?? { type: '', rows: [] })).toEqual({
      type: 'Observation',
      parameters: [
        ['code', 'http://loinc.org|8302-2'],
        ['date', 'gt2020'],
        ['date', 'lt2021'],
      ],
    });
  });

  it.each(['Observation', 'code', '', 'patient?x=1', 'a b?c=d'])('reads no search from %j', (text) => {
    expect(pastedSearch(text)).toBeUndefined();
  });
});

describe(askedSearch, () => {
  it('omits rows without a name or a value', () => {
    const rows = [
      { key: 0, name: 'code', value: '' },
      { key: 1, name: ' name ', value: ' a' },
      { key: 2, name: '', value: 'x' },
    ];
    expect(askedSearch({ type: 'Patient', rows }).parameters).toEqual([['name', ' a']]);
  });
});
