import { describe, expect, it } from '@jest/globals';
import { atOnce } from '../../../platform/time/steps';
import { Extractors } from './extractor';
import { useHashKey } from './hash';
import { type LiveSearchParameter, type LiveState } from './search-parameter';
import { SearchParameterSet } from './search-parameter-set';
import { type SearchRows } from './search-rows';

useHashKey({ low: 1, high: 2 });

const standard = new SearchParameterSet();
const live = (code: string, expression: string, state: LiveState = 'building'): LiveSearchParameter => ({
  type: 'Patient',
  code,
  kind: 'string',
  expression,
  state,
});
const PATIENT = { resourceType: 'Patient', id: 'p', language: 'de', birthDate: '1950-01-01' };
const rowsOf = (...parameters: LiveSearchParameter[]): SearchRows =>
  atOnce(new Extractors(standard.withLive(parameters), 'http://svc.example').extractorFor('Patient')(PATIENT));

describe('a set with live parameters', () => {
  it('shares what has none', () => {
    const set = standard.withLive([live('tongue', 'Patient.language')]);
    expect(set.find('Observation', 'code')).toBe(standard.find('Observation', 'code'));
    expect(set.find('Patient', 'tongue')).toMatchObject({ live: 'building', presenceMask: 0n });
    expect(standard.find('Patient', 'tongue')).toBeUndefined();
    expect(standard.withLive([])).toBe(standard);
  });

  it('leaves masks, main dates and built-in codes as they are', () => {
    const set = standard.withLive([
      { ...live('created', 'Patient.birthDate'), kind: 'date' },
      live('gender', 'Patient.language'),
    ]);
    expect(set.mainDateParameter('Patient')).toBe(undefined);
    expect(set.find('Patient', 'gender')?.kind).toBe('token');
    for (const { code, presenceMask } of standard.list('Patient'))
      expect([code, set.find('Patient', code)?.presenceMask]).toEqual([code, presenceMask]);
  });

  it('indexes what is built as what is active', () => {
    const [building, active] = (['building', 'active'] as const).map((state) =>
      rowsOf(live('tongue', 'Patient.language', state)),
    );
    expect(building).toEqual(active);
    expect(active?.strings).toEqual([expect.objectContaining({ value: 'de' })]);
  });
});
