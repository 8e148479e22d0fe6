import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { login } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';

describe('/rpc of the whole server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_BODY_LIMIT_BYTES: '10000' } });
  });
  afterAll(() => app.close());

  it('returns the digits that were sent to svc/echo', async () => {
    const { status, text, headers } = await app.post(
      '/rpc?_m=svc/echo',
      '{"method":"svc/echo","params":{"dose":1.10}}',
    );
    expect({ status, text, type: headers.get('content-type') }).toEqual({
      status: 200,
      text: '{"result":{"dose":1.10}}',
      type: 'application/json; charset=utf-8',
    });
  });

  it('returns 401 without credentials, as every route', async () => {
    const answer = await app.send('POST', '/rpc', { authorization: null, body: { method: 'svc/echo' } });
    expect({
      status: answer.status,
      challenge: answer.headers.get('www-authenticate'),
      outcome: answer.json(),
    }).toEqual({
      status: 401,
      challenge: expect.stringMatching(/^Bearer/),
      outcome: expect.objectContaining({ resourceType: 'OperationOutcome', id: 'login' }),
    });
  });

  it('returns 403 without a policy, as every route, and runs no call of a batch', async () => {
    const { bearer } = await login(app, 'nobody', { policies: [] });
    for (const body of [{ method: 'svc/echo' }, [{ method: 'svc/echo' }]]) {
      const answer = await app.post('/rpc', body, { authorization: bearer });
      expect({ status: answer.status, outcome: answer.json() }).toEqual({
        status: 403,
        outcome: expect.objectContaining({ resourceType: 'OperationOutcome', id: 'forbidden' }),
      });
    }
  });

  it.each(['GET', 'PUT', 'DELETE'])('refuses %s with 405', async (method) => {
    const { status, headers } = await app.send(method, '/rpc');
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('is served on one root only', async () => {
    expect((await app.post('/fhir/rpc', { method: 'svc/echo' })).status).toBe(404);
  });

  it('refuses a body over the limit with 413', async () => {
    const { status } = await app.post('/rpc', { method: 'svc/echo', params: { text: 'x'.repeat(10_000) } });
    expect(status).toBe(413);
  });

  it('reports a missing body, and shows an example call', async () => {
    const answer = await app.send('POST', '/rpc', { headers: { 'Content-Type': 'application/json' } });
    expect([answer.status, answer.json()]).toEqual([
      400,
      { error: { message: expect.stringMatching(/^The body is empty; send a call/), type: 'body-missing' } },
    ]);
  });

  it.each(['{"method":', '{"method":"svc/echo","params":{"a":1,"a":2}}', '{"params":{}}'])(
    'refuses %s with 400 in the form of RPC errors',
    async (body) => {
      const answer = await app.post('/rpc', body);
      expect({ status: answer.status, body: answer.json() }).toEqual({
        status: 400,
        body: { error: { message: expect.any(String), type: expect.stringMatching(/^(?:body|rpc)-/) } },
      });
    },
  );
});
