import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { destination, newDestination, newTopic } from '../support/destinations';
import { eventually } from '../support/eventually';
import { type CompiledApp, startCompiledApp } from '../support/compiled-app';

/** So rarely that whatever is seen here came by itself. */
const POLL_MILLISECONDS = 60_000;

describe('an attempt that waits for its answer', () => {
  let app: CompiledApp;
  let silent: Server;
  const attempts: { isOver: boolean }[] = [];

  beforeAll(async () => {
    app = await startCompiledApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: String(POLL_MILLISECONDS) } });
    silent = createServer(({ socket }) => {
      const attempt = { isOver: false };
      attempts.push(attempt);
      socket.once('close', () => (attempt.isOver = true));
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    silent.closeAllConnections();
    silent.close();
    await app.close();
  });

  it.each<[string, (id: string, body: object) => Promise<unknown>]>([
    ['changed', (id, body) => app.put(`/fhir/SvcTopicDestination/${id}`, { ...body, content: 'id-only' })],
    ['deleted', (id) => app.delete(`/fhir/SvcTopicDestination/${id}`)],
  ])('ends as soon as its destination is %s', async (_how, change) => {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const body = destination(await newTopic(app, { resource: 'Basic' }), {}, url);
    const id = await newDestination(app, body);
    const before = attempts.length;
    await app.post('/fhir/Basic', { resourceType: 'Basic', code: { text: 'x' } });
    await eventually('it is sent', () => attempts.length > before);
    const attempt = attempts[before];
    expect(attempt?.isOver).toBe(false);
    await change(id, body);
    await eventually('it is ended', () => attempt?.isOver);
    await app.delete(`/fhir/SvcTopicDestination/${id}`);
  });
});
