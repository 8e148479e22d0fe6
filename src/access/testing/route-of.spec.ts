import { describe, expect, it } from '@jest/globals';
import { routeOf } from './route-of';

describe(routeOf, () => {
  it.each([
    ['get', '/fhir/Patient/p1', 'FhirRead'],
    ['head', '/Patient/p1/', 'FhirRead'],
    ['put', '/Patient/p1', 'FhirUpdate'],
    ['patch', '/Patient/p1', 'FhirPatch'],
    ['delete', '/Patient/p1', 'FhirDelete'],
    ['get', '/Patient', 'FhirSearch'],
    ['post', '/fhir/Patient/_search', 'FhirSearch'],
    ['post', '/Patient', 'FhirCreate'],
    ['put', '/Patient', 'FhirConditionalUpdate'],
    ['patch', '/Patient', 'FhirConditionalPatch'],
    ['delete', '/Patient', 'FhirConditionalDelete'],
    ['get', '/Patient/p1/_history', 'FhirHistory'],
    ['get', '/Patient/p1/_history/2', 'FhirVread'],
    ['get', '/Patient/_history', 'FhirHistoryType'],
    ['get', '/_history', 'FhirHistorySystem'],
    ['get', '/Patient/p1/Observation', 'FhirCompartmentSearch'],
    ['get', '/Patient/p1/$everything', 'FhirEverything'],
    ['post', '/Patient/$validate', 'FhirValidate'],
    ['get', '/fhir/$dry-run', 'FhirDryRun'],
    ['post', '/fhir', 'FhirBundle'],
    ['post', '/', 'FhirBundle'],
    ['get', '/fhir', 'FhirSearchSystem'],
    ['post', '/_search', 'FhirSearchSystem'],
    ['post', '/rpc', 'rpc'],
    ['post', '/fhir/rpc', undefined],
    ['get', '/nowhere', undefined],
    ['get', '/Patient/p1/a/b/c', undefined],
    ['post', '/Patient/p1', undefined],
  ])('maps %s %s to %s', (method, uri, operationId) => {
    expect(routeOf(method, uri).operationId).toBe(operationId);
  });

  it('recognizes a conditional create by its criteria', () => {
    expect(routeOf('post', '/Patient', true).operationId).toBe('FhirConditionalCreate');
  });

  it('distinguishes the compartment from the resource type of its search', () => {
    expect(routeOf('get', '/Patient/p1/Observation')).toMatchObject({
      type: 'Observation',
      id: 'p1',
      compartment: 'Patient',
    });
    expect(routeOf('get', '/fhir/Patient/p1')).toMatchObject({ type: 'Patient', id: 'p1' });
  });
});
