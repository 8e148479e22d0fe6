import { describe, expect, it } from '@jest/globals';
import { SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { holdsTexts } from './holds-texts';

const KINDS = { identifier: 'token', deceased: 'token', subject: 'reference', url: 'uri', birthdate: 'date' } as const;
const parameters = new SearchParameterSet(
  Object.entries(KINDS).map(([code, kind]) => ({ type: 'Thing', code, kind, expression: code })),
);
const body = JSON.stringify({
  resourceType: 'Basic',
  identifier: [{ system: 'http://a', value: 'A,1|x' }, { value: '7' }],
  subject: { reference: 'http://own/fhir/Patient/p7/_history/2' },
  author: { resourceType: 'User', id: 'u1' },
  url: 'http://u|1.0',
  count: 12,
});
const holds = (criteria: string): boolean =>
  holdsTexts(new URLSearchParams(criteria), (code) => parameters.find('Thing', code))(body);

describe(holdsTexts.name, () => {
  it.each([
    'identifier=http://a|A\\,1\\|x',
    'identifier=7',
    'identifier=|7',
    'identifier=http://other|8,7',
    'identifier=a\\,1\\|X',
    'identifier=12',
    'deceased=true',
    'subject=Patient/p7',
    'subject=p7',
    'subject=http://own/Patient/p7',
    'subject=User/u1',
    'url=http://u|1.0',
    'url=http://u',
    'birthdate=1999',
    '_id=other',
    'identifier:not=8',
    'subject.name=x',
    'unknown=x',
  ])('returns true for %s', (criteria) => {
    expect(holds(criteria)).toBe(true);
  });

  it.each([
    'identifier=8',
    'identifier=http://other|7',
    'identifier=A',
    'identifier=7&identifier=8',
    'subject=Patient/p8',
    'subject=Patient/p',
    'url=http://u|2.0',
    'url=http://',
  ])('returns false for %s', (criteria) => {
    expect(holds(criteria)).toBe(false);
  });
});
