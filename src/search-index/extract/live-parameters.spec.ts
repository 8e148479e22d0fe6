import { describe, expect, it } from '@jest/globals';
import { atOnce } from '../../platform/time/steps';
import { extractorsBy } from './extractor';
import { parameterIdOf } from './hash';
import { RowHashes } from './row-hashes';
import { type OwnSearchParameter } from './search-parameter';
import { SearchParameterSet } from './search-parameter-set';
import { type SearchRows } from './search-rows';

const hashes = new RowHashes({ low: 1, high: 2 });

const standard = new SearchParameterSet();
const live = (code: string, expression: string): OwnSearchParameter => ({
  type: 'Patient',
  code,
  kind: 'string',
  expression,
});
const PATIENT = { resourceType: 'Patient', id: 'p', language: 'de', birthDate: '1950-01-01' };
const rowsOf = (...parameters: OwnSearchParameter[]): SearchRows =>
  atOnce(extractorsBy(standard.withLive(parameters), hashes, 'http://svc.example')('Patient')(PATIENT));

describe('a set with live parameters', () => {
  it('shares the parameters of types without live parameters', () => {
    const set = standard.withLive([live('tongue', 'Patient.language')]);
    expect(set.find('Observation', 'code')).toBe(standard.find('Observation', 'code'));
    expect(set.find('Patient', 'tongue')).toMatchObject({ isLive: true, presenceMask: 0n });
    expect(standard.find('Patient', 'tongue')).toBeUndefined();
    expect(standard.withLive([])).toBe(standard);
  });

  it('keeps masks, main dates and built-in codes', () => {
    const set = standard.withLive([
      { ...live('created', 'Patient.birthDate'), kind: 'date' },
      live('gender', 'Patient.language'),
    ]);
    expect(set.mainDateParameter('Patient')).toBe(undefined);
    expect(set.find('Patient', 'gender')?.kind).toBe('token');
    for (const { code, presenceMask } of standard.list('Patient'))
      expect([code, set.find('Patient', code)?.presenceMask]).toEqual([code, presenceMask]);
  });

  it('yields rows for live parameters', () => {
    expect(rowsOf(live('tongue', 'Patient.language')).strings).toEqual([expect.objectContaining({ value: 'de' })]);
  });

  it('H1: reports unfinished parameters, including those that use their rows', () => {
    const set = standard.withUnfinished({
      ids: new Set([parameterIdOf('Observation', 'subject')]),
      progressOf: () => undefined,
    });
    const isUnfinished = (code: string): boolean => {
      const parameter = set.find('Observation', code);
      return parameter !== undefined && set.isUnfinished(parameter);
    };
    expect(['subject', 'patient', 'code'].map(isUnfinished)).toEqual([true, true, false]);
    expect(set.find('Observation', 'code')).toBe(standard.find('Observation', 'code'));
  });
});
