import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from 'svc-health-server/testing';

describe('the check of a policy for probable mistakes', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  const matcho = (pattern: object): object => ({ engine: 'matcho', matcho: pattern });

  it.each<[object, string]>([
    [
      matcho({ 'request-method': 'GET' }),
      'matcho.request-method is \\"GET\\", which no request has. Did you mean \\"get\\"?',
    ],
    [matcho({ 'request-method': { $enum: ['get', 'fetch'] } }), 'is \\"fetch\\", which no request has'],
    [matcho({ params: { 'resource/type': 'Pateint' } }), 'Did you mean \\"Patient\\"?'],
    // It would grant deletes too, since methods are in lower case.
    [matcho({ 'request-method': { $not: 'DELETE' } }), 'Did you mean \\"delete\\"?'],
    [matcho({ params: { 'resource/type': { $not: { $enum: ['Uesr', 'Role'] } } } }), 'Did you mean \\"User\\"?'],
    [
      matcho({ operation: { id: 'FhirRaed' } }),
      'AccessPolicy.matcho.operation.id is \\"FhirRaed\\", which no request has. Did you mean \\"FhirRead\\"?',
    ],
    [
      matcho({ headers: { 'X-Emergency': 'nil?' } }),
      'is \\"X-Emergency\\", which no request has. Did you mean \\"x-emergency\\"?',
    ],
    [
      matcho({ uri: { $enum: ['/fhir/Patient', 'https://clinic.example/fhir/Patient'] } }),
      'AccessPolicy.matcho.uri is a URL: a request has only its path, such as \\"/fhir/Patient\\"',
    ],
    // It would lead to nothing, and so match each request that names no resource.
    [
      matcho({ params: { 'resource/id': '.session.role.links.patient.id' } }),
      'AccessPolicy.matcho.params.resource/id reads members of session.role, which is a list.',
    ],
    [
      { engine: 'complex', or: [{ engine: 'allow' }, matcho({ params: { 'resource/type': 'patient' } })] },
      'AccessPolicy.or[1].matcho.params.resource/type',
    ],
    [
      { engine: 'allow-rpc', type: 'rpc', rpc: { 'svc.sdc.addendum/get-addendums': true }, criteria: 'Observation' },
      'AccessPolicy.criteria cannot limit the engine allow-rpc. The engine matcho with the pattern',
    ],
  ])('refuses with 422: %j', async (policy, text) => {
    const answer = await app.put('/AccessPolicy/mistake', policy);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(text)]);
  });

  it.each<[object]>([
    [matcho({ 'request-method': '#^(get|head)$', params: { 'resource/type': { $enum: ['Patient', 'SDCDocument'] } } })],
    [matcho({ 'request-method': 'present?', params: { 'resource/type': '.user.data.type' } })],
    [matcho({ 'request-method': { $not: 'get' }, operation: { id: '#^Fhir(Read|Search)$' } })],
    [matcho({ headers: { 'x-emergency': 'present?' }, params: { 'resource/id': '.session.role.0.links.patient.id' } })],
  ])('accepts: %j', async (policy) => {
    const answer = await app.put('/AccessPolicy/right', policy);
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
    await app.delete('/AccessPolicy/right');
  });
});
