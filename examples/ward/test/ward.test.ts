import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer, type RunningServer } from 'svc-health-server';
import { WardModule } from '../src/ward.module';

const SECRET = 'secret-of-root';
const ROOT = `Basic ${Buffer.from(`root:${SECRET}`).toString('base64')}`;

let folder: string;
let server: RunningServer;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ward-'));
  const settings = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: folder, SVC_ROOT_CLIENT_SECRET: SECRET };
  server = await createServer({ modules: [WardModule], environment: { ...settings, SVC_LOG_LEVEL: 'error' } });
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function call(method: string, path: string, body?: object): Promise<{ status: number; value: unknown }> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: ROOT, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, value: await response.json() };
}

void test('hands a document over to a ward, and counts it in a table of its own', async () => {
  assert.equal((await call('PUT', '/fhir/SDCDocument/d1', { status: 'in-progress' })).status, 201);
  const { value } = await call('POST', '/rpc', {
    method: 'acme.ward/hand-over',
    params: { documentId: 'd1', ward: '4B' },
  });
  assert.equal((value as { result: { ward: string } }).result.ward, '4B');
  assert.deepEqual((await call('GET', '/acme/ward-board')).value, { wards: [], handOvers: 1 });
});

void test('refuses a ward without beds', async () => {
  assert.equal((await call('PUT', '/fhir/Ward/w1', { beds: -1 })).status, 422);
});
