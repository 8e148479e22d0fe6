import { describe, expect, it } from '@jest/globals';
import { r4ResourceTypes } from '../../fhir/definitions/definitions';
import { parameterIdOf } from './hash';
import { type OwnSearchParameter } from './search-parameter';
import { SearchParameterSet } from './search-parameter-set';

const standard = new SearchParameterSet();

const own = (
  type: string,
  code: string,
  expression: string,
  kind: OwnSearchParameter['kind'] = 'reference',
): OwnSearchParameter => ({
  type,
  code,
  kind,
  expression,
});

function storedAs(set: SearchParameterSet, type: string, code: string): unknown {
  const parameter = set.find(type, code);
  const owners = set.list(type).filter(({ parameterId }) => parameter?.storedAs.includes(parameterId));
  return { codes: owners.map((owner) => owner.code), narrowedTo: parameter?.narrowedTo };
}

describe(SearchParameterSet.name, () => {
  it('finds the parameters of a type and those of all types', () => {
    expect(standard.find('Patient', 'birthdate')).toMatchObject({
      type: 'Patient',
      code: 'birthdate',
      kind: 'date',
      parameterId: parameterIdOf('Patient', 'birthdate'),
      storedAs: [parameterIdOf('Patient', 'birthdate')],
    });
    expect(standard.find('Patient', '_tag')).toMatchObject({ kind: 'token' });
    expect(standard.find('Patient', 'colour')).toBeUndefined();
    expect(standard.find('Spaceship', 'name')).toBeUndefined();
    expect(standard.list('Spaceship')).toEqual([]);
  });

  it('compiles every HL7 parameter that has an expression', () => {
    const unusable = [...r4ResourceTypes()].flatMap((type) => standard.listUnusable(type));
    const reasons = new Map(unusable.map(({ code, reason }) => [code, reason]));
    expect(Object.fromEntries(reasons)).toEqual({
      _text: 'it has no expression',
      _content: 'it has no expression',
      _query: 'it has no expression',
      _filter: 'it has no expression',
      age: 'it has no expression',
      birthOrderBoolean: 'it has no expression',
    });
  });

  it('reports why the expression of a module cannot be used', () => {
    const set = new SearchParameterSet([
      own('Patient', 'odd', 'Patient.shoe'),
      own('Session', 'odd', 'a >'),
      own('Session', 'other', 'Patient.name'),
    ]);
    expect(set.listUnusable('Patient').at(-1)).toEqual({
      type: 'Patient',
      code: 'odd',
      reason: 'line 1, column 9: Patient has no element "shoe"',
    });
    expect(set.listUnusable('Session').slice(-2)).toEqual([
      { type: 'Session', code: 'odd', reason: 'line 1, column 4: the expression ends too early' },
      { type: 'Session', code: 'other', reason: 'it names nothing of Session' },
    ]);
  });

  it('refuses two parameters with the same id', () => {
    // These two codes have equal 31-bit hashes; a search for collisions found them.
    const pair = [own('Thing', 'c50903', 'a'), own('Thing', 'c54008', 'b')];
    expect(() => new SearchParameterSet(pair)).toThrow(
      'The search parameters Thing.c50903 and Thing.c54008 have one id, 1000497050. Rename one of both.',
    );
  });

  describe('aliases', () => {
    it.each([
      ['Observation', 'patient', ['subject'], 'Patient'],
      ['AuditEvent', 'patient', ['agent', 'entity'], 'Patient'],
      ['Encounter', 'practitioner', ['participant'], 'Practitioner'],
      ['Observation', 'combo-code', ['component-code', 'code'], undefined],
      ['Patient', 'phonetic', ['name'], undefined],
      ['Observation', 'subject', ['subject'], undefined],
      ['AllergyIntolerance', 'patient', ['patient'], undefined],
      ['Patient', '_id', [], undefined],
      ['Patient', '_lastUpdated', [], undefined],
    ])('store %s.%s as %j, narrowed to %s', (type, code, codes, narrowedTo) => {
      expect(storedAs(standard, type, code)).toEqual({ codes, narrowedTo });
    });

    it('refer only to parameters that have rows', () => {
      const owners = new Set(
        [...r4ResourceTypes()].flatMap((type) => standard.list(type)).flatMap((parameter) => parameter.storedAs),
      );
      const lost = [...r4ResourceTypes()]
        .flatMap((type) => standard.list(type))
        .filter(({ parameterId, storedAs: ids }) => owners.has(parameterId) && !ids.includes(parameterId));
      expect(lost).toEqual([]);
    });

    it('keep the rows of a parameter at their place when a parameter is added', () => {
      const set = new SearchParameterSet([
        own('Observation', 'about', 'Observation.subject'),
        own('Observation', 'maker', 'Observation.performer.where(resolve() is Practitioner)'),
      ]);
      for (const { code, storedAs: before } of standard.list('Observation')) {
        expect(set.find('Observation', code)?.storedAs).toEqual(before);
      }
      expect(storedAs(set, 'Observation', 'about')).toEqual({ codes: ['subject'], narrowedTo: undefined });
      expect(storedAs(set, 'Observation', 'maker')).toEqual({ codes: ['performer'], narrowedTo: 'Practitioner' });
    });
  });

  describe('presence masks', () => {
    it('have one bit for each parameter with rows and each narrowed one, and all bits of a union', () => {
      const maskOf = (code: string): bigint => standard.find('Observation', code)?.presenceMask ?? -1n;
      const masks = standard.list('Observation').map(({ presenceMask }) => presenceMask);
      const bits = masks.filter((mask) => mask !== 0n && (mask & (mask - 1n)) === 0n);
      expect(bits.length).toBeGreaterThan(30);
      expect(maskOf('combo-code')).toBe(maskOf('code') | maskOf('component-code'));
      expect(maskOf('patient')).not.toBe(maskOf('subject'));
      expect([maskOf('code-value-quantity'), maskOf('_id')]).toEqual([0n, 0n]);
    });

    it('use at most 63 bits, and are empty for further parameters', () => {
      const many = Array.from({ length: 70 }, (_, i) => own('Thing', `c${i}`, `m${i}`));
      const set = new SearchParameterSet(many);
      expect(set.find('Thing', '_tag')?.presenceMask).not.toBe(0n);
      expect(set.find('Thing', 'c69')?.presenceMask).toBe(0n);
      const all = set.list('Thing').reduce((mask, { presenceMask }) => mask | presenceMask, 0n);
      expect(all).toBe(2n ** 63n - 1n);
    });
  });

  it.each([
    ['Observation', 'date'],
    ['MedicationRequest', 'authoredon'],
    ['ServiceRequest', 'authored'],
    ['Condition', 'onset-date'],
    ['Claim', 'created'],
    ['Communication', 'sent'],
    ['DiagnosticReport', 'date'],
    ['Task', 'authored-on'],
    ['Patient', undefined],
    ['Medication', undefined],
  ])('uses for the main date of %s the parameter %s', (type, code) => {
    expect(standard.mainDateParameter(type)?.code).toBe(code);
  });

  it.each([
    ['Observation', 'patient'],
    ['AllergyIntolerance', 'patient'],
    ['AdverseEvent', 'subject'],
    ['Coverage', 'patient'],
    ['Appointment', undefined],
    ['AuditEvent', undefined],
    ['Provenance', undefined],
    ['Patient', undefined],
  ])('finds the patient of %s by %s if there can be only one', (type, code) => {
    expect(standard.patientParameter(type)?.code).toBe(code);
  });

  it('contains types of the server that have no element tables', () => {
    const set = new SearchParameterSet([own('SDCDocument', 'patient', 'SDCDocument.patient')], ['Role']);
    expect(set.patientParameter('SDCDocument')?.code).toBe('patient');
    expect(set.list('Role').map(({ code }) => code)).toEqual([
      '_id',
      '_lastUpdated',
      '_profile',
      '_security',
      '_source',
      '_tag',
    ]);
  });

  it('replaces an HL7 parameter by a parameter of a module with the same code', () => {
    const set = new SearchParameterSet([own('Patient', 'link', 'Patient.generalPractitioner')]);
    expect(storedAs(set, 'Patient', 'link')).toEqual({ codes: ['general-practitioner'], narrowedTo: undefined });
  });

  it('suggests the nearest code for a misspelt one', () => {
    expect([standard.nearestCode('Patient', 'birthdat'), standard.nearestCode('Spaceship', 'name')]).toEqual([
      'birthdate',
      undefined,
    ]);
  });
});
