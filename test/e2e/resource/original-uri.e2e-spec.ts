import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

const ORIGINAL = { 'X-Original-Uri': 'https://gw.example/clinic/fhir/Patient?_count=1' };

describe('X-Original-Uri', () => {
  let trusting: TestApp;
  let plain: TestApp;

  beforeAll(async () => {
    plain = await startTestApp();
    trusting = await startTestApp({
      databaseUrl: plain.databaseUrl,
      environment: { SVC_TRUSTED_PROXIES: 'loopback' },
    });
    for (const id of ['p1', 'p2']) await plain.put(`/fhir/Patient/${id}`, { resourceType: 'Patient', id });
  });
  afterAll(async () => {
    await trusting.close();
    await plain.close();
  });

  const urlsOf = async (app: TestApp, headers: Record<string, string>): Promise<string[]> => {
    const { link, entry } = (await app.get('/fhir/Patient?_count=1', { headers })).json<Bundle>();
    return [...link.map(({ url }) => url), ...entry.map(({ fullUrl }) => fullUrl)];
  };

  it('from a trusted proxy is the base of links', async () => {
    for (const url of await urlsOf(trusting, ORIGINAL))
      expect(url).toMatch(/^https:\/\/gw\.example\/clinic\/fhir\/Patient/);
    const created = await trusting.post(
      '/fhir/Patient',
      { resourceType: 'Patient' },
      { headers: { 'X-Original-Uri': '/clinic/fhir/Patient' } },
    );
    expect(created.headers.get('location')).toMatch(new RegExp(`^${BASE_URL}/clinic/fhir/Patient/`));
  });

  it('from any other client is ignored', async () => {
    for (const url of await urlsOf(plain, ORIGINAL)) expect(url).toMatch(new RegExp(`^${BASE_URL}/fhir/Patient`));
  });

  it.each(['javascript:alert(1)/Patient', 'https://gw.example/Observation', 'https://u:p@gw.example/Patient', '%'])(
    'is ignored if it does not match the request: %s',
    async (original) => {
      for (const url of await urlsOf(trusting, { 'X-Original-Uri': original }))
        expect(url).toMatch(new RegExp(`^${BASE_URL}/fhir/Patient`));
    },
  );
});
