import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const user = { id: 'doc-1', resourceType: 'User' };
const missing = { id: 'not-there', resourceType: 'SDCDocument' };

describe('an addendum', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/SDCDocument/meta', { status: 'completed' });
  });
  afterAll(() => app.close());

  const call = (method: string, params: object): Promise<Received> => app.post('/rpc', { method, params });

  it('C12.5: has its meta replaced by create-addendum, whatever it contains, and its chain stays intact', async () => {
    const target = { id: 'meta', resourceType: 'SDCDocument' };
    const meta = {
      source: 'http://clinic.example',
      tag: [{ code: 'x' }],
      security: [{ code: 'R' }],
      profile: ['http://clinic.example/p'],
      extension: [{ url: 'http://clinic.example/e', valueString: 'x' }],
      versionId: '9',
    };
    const addendum = { type: 'acme/Handover', target, user, ward: '4B', meta };
    const { result } = (await call('svc.sdc.addendum/create-addendum', { addendum })).json<{
      result: { id: string; ward: string; meta: object };
    }>();
    expect(Object.keys(result.meta).sort()).toEqual(['createdAt', 'lastUpdated', 'versionId']);
    expect(result).toMatchObject({ ward: '4B', meta: { versionId: '1' } });
    expect((await app.get(`/SDCAddendum/${result.id}`)).json()).toEqual(result);
    expect((await call('svc.sdc.addendum/verify', { target })).json()).toMatchObject({
      result: { intact: true, length: 1 },
    });
  });

  it.each<[string, object, readonly string[]]>([
    ['svc.sdc.addendum/add-note', { target: missing, user, text: 'x' }, ['target']],
    ['svc.sdc.addendum/add-comment', { target: missing, user, text: 'x' }, ['target']],
    ['svc.sdc.addendum/create-addendum', { addendum: { type: 'x', target: missing, user } }, ['addendum', 'target']],
    ['svc.sdc.addendum/create-amendment', { target: missing, user }, ['target']],
    ['svc.sdc.addendum/verify', { target: missing }, ['target']],
    ['svc.sdc/add-note', { id: 'not-there', user, text: 'x' }, ['id']],
    ['svc.sdc/amend', { id: 'not-there', user }, ['id']],
    ['svc.sdc/save', { document: missing }, ['document', 'id']],
    ['svc.sdc/sign', { document: missing, user }, ['document', 'id']],
  ])('C10.11: %s names the missing document, and says what to do', async (method, params, path) => {
    const answer = await call(method, params);
    expect([answer.status, answer.json()]).toEqual([
      422,
      {
        error: {
          message: 'Resource not found',
          errors: [{ path, message: expect.stringMatching(/^SDCDocument\/not-there is not stored.*Check the id, or/) }],
        },
      },
    ]);
  });

  it('C10.11: methods for workflows name the missing workflow', async () => {
    for (const [method, params] of [
      ['svc.sdc/add-workflow-note', { id: 'not-there', user, text: 'x' }],
      ['svc.sdc/get-workflow-addendums', { id: 'not-there' }],
    ] as const)
      expect((await call(method, params)).text).toContain('SDCWorkflow/not-there is not stored');
  });

  it('C10.11: get-addendums returns the error that the interface specifies', async () => {
    const answer = await call('svc.sdc.addendum/get-addendums', { target: missing });
    expect([answer.status, answer.text]).toEqual([422, '{"error":{"message":"Resource not found"}}']);
  });
});
