import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { type Person, login, storeAll } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const OWN = { reference: 'Patient/own' };

const observation = (subject: object): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'pulse' },
  subject,
});

const REPLACE_STATUS = [{ op: 'replace', path: '/status', value: 'amended' }];

describe('a policy decides on the request that the route runs', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await storeAll(app, [
      ['Patient/own', {}],
      ['Patient/other', {}],
      ['Observation/own', observation(OWN)],
      ['Observation/other', observation({ reference: 'Patient/other' })],
    ]);
  });
  afterAll(() => app.close());

  const personWith = (userId: string, ...patterns: object[]): Promise<Person> =>
    login(app, userId, { policies: patterns.map((matcho) => ({ engine: 'matcho', matcho })) });

  describe('whatever the request target says', () => {
    let visitor: Person;
    beforeAll(async () => {
      visitor = await personWith('visitor', { uri: '#/Patient/own$' });
    });

    /** Sends a request target as it is; fetch would change it. */
    const statusOf = (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(app.url);
        const headers = { authorization: visitor.bearer };
        httpRequest({ agent: false, hostname, port, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });

    it.each([
      ['/fhir/Patient/own', 200],
      ['http://other.example/fhir/Patient/own', 200],
      ['/fhir/Patient/other', 403],
      ['/fhir/Patient/other#/Patient/own', 403],
      ['/fhir\\Patient\\other#/Patient/own', 403],
      ['http://other.example/fhir/Patient/other#/Patient/own', 403],
    ])('%s', async (target, status) => {
      expect(await statusOf(target)).toBe(status);
    });
  });

  it('with a patch whose media type names another release', async () => {
    const pattern = { 'request-method': 'patch', body: { $not: { $contains: { path: '/status' } } } };
    const corrector = await personWith('corrector', pattern);
    const { bearer: authorization } = corrector;
    for (const type of ['application/json', 'application/json; fhirVersion=5.0', 'application/json-patch+json']) {
      const headers = { 'Content-Type': type };
      const sent = { authorization, headers, body: REPLACE_STATUS };
      expect([type, (await app.send('PATCH', '/Observation/other', sent)).status]).toEqual([type, 403]);
    }
  });
});
