import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { type Person, login } from '../../../testing/world';
import { storeHeavyChart } from '../../support/long-chart';

/** The number of resources. Together they have 30 MB, more than the sockets and streams in between hold. */
const RESOURCES = 300;

describe('a request in progress', () => {
  let app: TestApp;
  let number = 0;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    await storeHeavyChart(app, 'long', RESOURCES);
  }, 60_000);
  afterAll(() => app.close());

  beforeEach(async () => {
    nurse = await login(app, `nurse-${++number}`);
  });

  /** Takes every right from the User. The Session is closed with it. */
  const withdrawRights = async (): Promise<void> => {
    const { status } = await app.delete(`/AccessPolicy/policy-of-${nurse.userId}`);
    expect([status, (await app.get('/fhir/Patient/long', { authorization: nurse.bearer })).status]).toEqual([200, 403]);
    await app.put(`/User/${nurse.userId}`, { inactive: true });
    expect((await app.get('/fhir/Patient/long', { authorization: nurse.bearer })).status).toBe(401);
  };
  const begin = async (path: string): Promise<IncomingMessage> => {
    const request = get(`${app.url}${path}`, { headers: { Authorization: nurse.bearer }, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    await once(response, 'readable');
    response.read(1);
    return response;
  };

  const restOf = async (response: IncomingMessage): Promise<string> => {
    const chunks: string[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await once(response, 'end');
    return chunks.join('');
  };

  it('completes a stream if its rights are withdrawn meanwhile', async () => {
    const response = await begin('/fhir/Patient/long/$everything?_format=ndjson');
    await withdrawRights();
    expect((await restOf(response)).trimEnd().split('\n')).toHaveLength(RESOURCES + 1);
  });

  it('completes a page of a search if its rights are withdrawn meanwhile', async () => {
    const response = await begin('/fhir/Observation?_count=150');
    await withdrawRights();
    const page = JSON.parse(`{${await restOf(response)}`) as { readonly entry: readonly object[] };
    expect(page.entry).toHaveLength(150);
  });

  it('runs all entries of a batch if its Session is closed meanwhile', async () => {
    const database = await app.connect();
    await database.query(`begin; select from resource where type = 'Patient' and id = 'long' for update`);
    const entry = [
      {
        request: { method: 'PUT', url: 'Patient/long' },
        resource: { resourceType: 'Patient', id: 'long', active: true },
      },
      { request: { method: 'GET', url: 'Patient/long' } },
    ];
    const answer = app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry }, { authorization: nurse.bearer });
    await eventually('the first entry waits', async () => {
      const { rowCount } = await database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await app.put(`/User/${nurse.userId}`, { inactive: true });
    expect((await app.get('/fhir/Patient/long', { authorization: nurse.bearer })).status).toBe(401);
    await database.query('rollback');
    await database.end();
    expect((await answer).json()).toMatchObject({
      entry: [{ response: { status: '200 OK' } }, { resource: { active: true }, response: { status: '200 OK' } }],
    });
  });
});
