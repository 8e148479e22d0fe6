import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANY_TYPE } from '../../../src/operation/operation';
import { OperationRegistry } from '../../../src/operation/operation.registry';
import { destination, newDestination, newTopic } from '../../support/destinations';
import { type TestApp, startTestApp } from '../../../testing/test-app';

describe('_pretty and _format', () => {
  let app: TestApp;
  let hook: string;

  beforeAll(async () => {
    app = await startTestApp();
    hook = await newDestination(app, destination(await newTopic(app)));
    await app.put('/fhir/Patient/p', { resourceType: 'Patient' });
  });
  afterAll(() => app.close());

  it('C10.7: are accepted by every operation, on GET and POST', async () => {
    const operations = app.app.get(OperationRegistry, { strict: false }).all();
    const answers: [string, boolean][] = [];
    for (const { meta } of operations) {
      const type = meta.resourceType === ANY_TYPE ? 'Patient' : meta.resourceType;
      const id = type === 'SvcTopicDestination' ? hook : 'p';
      const place = { system: '', type: `/${type ?? ''}`, instance: `/${type ?? ''}/${id}` }[meta.level];
      for (const method of meta.methods) {
        const path = `/fhir${place}/$${meta.code}?_pretty=true&_format=json`;
        const { status, text } = await app.send(method, path, method === 'POST' ? { body: {} } : {});
        answers.push([`${method} ${path}`, status === 400 && /_pretty|_format/.test(text)]);
      }
    }
    expect(answers.filter(([, isRefused]) => isRefused)).toEqual([]);
    expect(answers.length).toBeGreaterThan(12);
  });

  it.each([
    () => `/fhir/SvcTopicDestination/${hook}/$events`,
    () => `/fhir/SvcTopicDestination/${hook}/$status`,
    () => '/fhir/Patient/p/$everything',
    () => '/fhir/Patient/p/$validate',
    () => '/fhir/$version',
    () => '/fhir/metadata',
    () => '/fhir/Patient/p/_history',
    () => '/fhir/Patient',
    () => '/fhir',
  ])('C10.7: print the response of %s over several lines', async (path) => {
    const answer = await app.get(`${path()}${path() === '/fhir' ? '?_type=Patient&' : '?'}_pretty=true&_format=json`);
    expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/^\{\n {2}"/)]);
  });
});
