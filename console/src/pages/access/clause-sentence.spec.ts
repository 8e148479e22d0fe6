import { describe, expect, it } from '@jest/globals';
import { clauseSentence } from './clause-sentence';

describe(clauseSentence, () => {
  const request = { method: 'delete', type: 'Patient', operation: 'FhirDelete', caller: 'lars' };

  it.each<[string, unknown, string | undefined]>([
    ['matcho.params.resource/type', 'Observation', 'lab-reader allows Observation only; the request was for Patient.'],
    [
      'and[0].matcho.params.resource/type',
      { $enum: ['Encounter', 'Observation'] },
      'lab-reader allows Encounter or Observation only; the request was for Patient.',
    ],
    ['matcho.request-method', 'get', 'lab-reader allows GET only; the request was DELETE.'],
    ['matcho.operation.id', 'FhirRead', 'lab-reader allows FhirRead only; the request was FhirDelete.'],
    ['roleName', 'clerk', 'lab-reader is for holders of the role clerk, which lars does not hold.'],
    ['matcho.params.resource/type', '#^Obs', undefined],
    ['matcho.params.resource/type', 'present?', undefined],
    ['matcho.params.resource/type', { $not: 'Patient' }, undefined],
    ['matcho.request-method', undefined, undefined],
    ['matcho.user.data.ward', 'w1', undefined],
    ['criteria', ['Patient'], undefined],
  ])('explains the clause %s with the value %j as: %s', (path, wanted, sentence) => {
    expect(clauseSentence('lab-reader', path, wanted, request)).toBe(sentence);
  });
});
