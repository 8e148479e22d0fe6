import { describe, expect, it } from '@jest/globals';
import { isEmptyQuery, patientParametersOf, readSearchText, searchParametersOf } from './patient-query';

describe('the search box of patients', () => {
  it.each([
    ['rivera 1980-02-03', { name: ['rivera'], birthdate: ['1980-02-03'] }],
    ['Rivera, Ana', { name: ['Rivera', 'Ana'] }],
    ['MRN|123', { identifier: ['MRN|123'] }],
    ['http://hospital.example/mrn|12,3', { identifier: ['http://hospital.example/mrn|12', '3'] }],
    ['8812734', { identifier: ['8812734'] }],
    ['rivera 1980', { name: ['rivera'], birthdate: ['1980'] }],
    ['3.2.1980 ana', { name: ['ana'], birthdate: ['1980-02-03'] }],
    ['1980-02', { birthdate: ['1980-02'] }],
    ['Patient/p7', { _id: ['p7'] }],
    ["O'Brien $mith", { name: ["O'Brien", '\\$mith'] }],
    ['李小龍', { name: ['李小龍'] }],
    ['  ', {}],
  ])('reads "%s"', (text, parameters) => {
    expect(searchParametersOf(readSearchText(text))).toEqual(parameters);
  });

  it('detects an empty query', () => {
    expect(isEmptyQuery(readSearchText(' , '))).toBe(true);
    expect(isEmptyQuery(readSearchText('a'))).toBe(false);
  });

  it.each([
    ['rivera 1980', { 'patient.name': ['rivera'], 'patient.birthdate': ['1980'] }],
    ['p7', { patient: ['Patient/p7'] }],
    ['Patient/p7', { patient: ['Patient/p7'] }],
    ['MRN|123', { 'patient.identifier': ['MRN|123'] }],
  ])('searches documents by "%s"', (text, parameters) => {
    expect(patientParametersOf(readSearchText(text))).toEqual(parameters);
  });
});
