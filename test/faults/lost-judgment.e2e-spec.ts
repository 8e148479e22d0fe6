import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { type TestApp, type Received, startTestApp } from '../../testing/test-app';
import { TcpProxy } from '../support/tcp-proxy';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const BODY = JSON.stringify({ resourceType: 'Patient' });
const LARGE_BODY = JSON.stringify({ resourceType: 'Patient', name: [{ text: 'x'.repeat(100_000) }] });

describe('a database connection that breaks during authentication', () => {
  let database: ClonedDatabase;
  let proxy: TcpProxy;
  let app: TestApp;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    proxy = await TcpProxy.start(database.url);
    app = await startTestApp({ databaseUrl: proxy.url });
    for (const id of ['a', 'b']) {
      const identifier = [{ system: 'http://a.example', value: id }];
      await app.put(`/Patient/${id}`, { resourceType: 'Patient', id, identifier });
    }
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await database.drop();
  });

  /**
   * Sends while the connection is broken on which the server checks the request before it reads the body. That check
   * fails, and the guard then repeats the check on a new connection.
   */
  async function withBrokenConnections(send: () => Promise<Received>): Promise<Received> {
    proxy.breakConnections();
    await setTimeout(30); // until the server has noticed
    return send();
  }

  it.each([
    ['a conditional create', '/fhir/Patient', BODY, { 'If-None-Exist': 'identifier=http://a.example|a' }, 200],
    ['a create with a large body', '/fhir/Patient', LARGE_BODY, {}, 201],
    ['a search by form', '/fhir/Patient/_search', 'identifier=http://a.example|a', FORM, 200],
    ['a Bundle', '/fhir', '{"resourceType":"Bundle","type":"batch"}', {}, 200],
  ])('H1: never lets %s run without its body', async (_what, path, body, headers, status) => {
    const statuses = new Set<number>();
    // Background work may use the broken connection first; then the request succeeds and is tried again.
    for (let tries = 1; tries <= 20; tries++) {
      const answer = await withBrokenConnections(() => app.send('POST', path, { body, headers }));
      statuses.add(answer.status);
      if (headers === FORM && answer.status === 200) expect(answer.json()).toMatchObject({ total: 1 });
    }
    expect([...statuses].filter((one) => one !== status && one !== 503)).toEqual([]);
    expect(statuses).toContain(503);
  });
});
