import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp, world } from 'svc-health-server/testing';
import { WardModule } from '../src/ward.module';

let app: TestApp;

before(async () => {
  app = await startTestApp({ modules: [WardModule] });
});
after(() => app.close());

void test('a nurse hands a document over to a ward', async () => {
  const { nurse } = await world(app, {
    people: { nurse: { policies: [{ engine: 'allow' }] } },
    resources: { 'SDCDocument/d1': { status: 'in-progress' } },
  });
  const call = { method: 'acme.ward/hand-over', params: { documentId: 'd1', ward: '4B' } };
  const { status, text } = await app.post('/rpc', call, { authorization: nurse.bearer });
  assert.equal(status, 200);
  assert.match(text, /"ward":"4B"/);
  assert.equal((await app.get('/acme/ward-board')).json<{ handOvers: number }>().handOvers, 1);
});
