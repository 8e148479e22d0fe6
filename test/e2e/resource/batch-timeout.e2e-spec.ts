import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { startTestApp, type TestApp } from '../../../testing/test-app';

describe('a batch Bundle that takes too long', () => {
  let app: TestApp;
  let locker: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_BUNDLE_TIMEOUT_SECONDS: '1' } });
    await app.put('/Basic/locked', { resourceType: 'Basic', code: { text: 'first' } });
    locker = await app.connect();
  });
  afterAll(() => app.close());

  it('returns a response for each entry', async () => {
    const ids = ['a', 'b', 'c', 'd', 'locked'];
    const entry = ids.map((id) => ({
      resource: { resourceType: 'Basic', id, code: { text: 'second' } },
      request: { method: 'PUT', url: `Basic/${id}` },
    }));
    await locker.query(`begin; select 1 from resource where id = 'locked' for update`);
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    await locker.query('rollback');
    const bundle = answer.json<{ entry: { response: { status: string } }[] }>();
    expect(bundle.entry.map(({ response }) => response.status)).toEqual(ids.map(() => '504 Gateway Timeout'));
  });
});
