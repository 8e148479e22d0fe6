import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { basicHeader, eventually, startTestApp, type TestApp, WebhookReceiver, world } from 'svc-health-server/testing';
import { ForgetHandOvers } from '../src/forget-hand-overs.task';
import { WardMetrics } from '../src/ward.metrics';
import { WardModule } from '../src/ward.module';

let app: TestApp;

before(async () => {
  const environment = { SVC_ADDENDUM_TYPES: 'src/addendum-types.json' };
  app = await startTestApp({ modules: [WardModule], environment });
  await world(app, {
    resources: {
      'Ward/w1': { site: 'north', beds: 12, head: { resourceType: 'Practitioner', id: 'dr-1' } },
      'SDCDocument/vitals-1': '{"status":"in-progress","ward":"1A","score":1.10}',
    },
  });
});
after(() => app.close());

const handOver = (params: object): ReturnType<TestApp['post']> =>
  app.post('/rpc', { method: 'acme.ward/hand-over', params });

const handOvers = async (): Promise<number> =>
  (await app.get('/acme/ward-board')).json<{ handOvers: number }>().handOvers;

/** A topic for all changes of wards, and a destination for it. */
async function deliver(id: string, kind: string, parameter: readonly object[]): Promise<number> {
  const topic = `http://acme.example/${id}`;
  await app.post('/fhir/SvcSubscriptionTopic', { url: topic, status: 'active', trigger: [{ resource: 'Ward' }] });
  const profile = [`http://acme.example/StructureDefinition/${kind}`];
  const body = { meta: { profile }, kind, topic, parameter };
  return (await app.put(`/fhir/SvcTopicDestination/${id}`, body)).status;
}

void test('the resource type is searched by its parameters, and is in the CapabilityStatement', async () => {
  const found = async (query: string): Promise<number> =>
    (await app.get(`/fhir/Ward?${query}`)).json<{ total: number }>().total;
  assert.deepEqual(
    [await found('site=north'), await found('site=south'), await found('head=Practitioner/dr-1')],
    [1, 0, 1],
  );
  assert.match((await app.get('/metadata')).text, /"name":"census"/);
});

void test('the rule refuses a ward without beds', async () => {
  const { status, text } = await app.put('/fhir/Ward/w2', { beds: -1 });
  assert.equal(status, 422);
  assert.match(text, /beds must be a whole number/);
});

void test('the rule of a type of R4 reads it by the types of @types/fhir', async () => {
  const encounter = { status: 'in-progress', class: { code: 'IMP' } };
  const { status, text } = await app.put('/fhir/Encounter/e1', encounter);
  assert.equal(status, 422);
  assert.match(text, /names its ward/);
  const location = [{ location: { display: '4B' } }];
  assert.equal((await app.put('/fhir/Encounter/e1', { ...encounter, location })).status, 201);
});

void test('the operation counts beds', async () => {
  const { parameter } = (await app.get('/fhir/Ward/w1/$census')).json<{ parameter: unknown }>();
  assert.deepEqual(parameter, [{ name: 'beds', valueInteger: 12 }]);
});

void test('the RPC method keeps the digits of what it does not change, and its params are checked', async () => {
  const { text } = await handOver({ documentId: 'vitals-1', ward: '4B' });
  assert.match(text, /"ward":"4B"/);
  assert.match(text, /"score":1\.10/);
  assert.equal((await handOver({ documentId: 'vitals-1' })).status, 422);
});

void test('the table gets its row in the transaction of the resource', async () => {
  const first = await handOvers();
  await app.put('/fhir/SDCDocument/vitals-2', { status: 'in-progress' });
  // Calls that read one version: one of them writes it, and the rows of the others are rolled back.
  const calls = await Promise.all(['4A', '4B', '4C'].map((ward) => handOver({ documentId: 'vitals-2', ward })));
  const done = calls.filter(({ status }) => status === 200).length;
  assert.ok(done > 0);
  assert.equal(await handOvers(), first + done);
});

void test('the job forgets hand-overs after a year', async () => {
  await handOver({ documentId: 'vitals-1', ward: '4C' });
  assert.notEqual(await handOvers(), 0);
  const inTwoYears = (): Date => new Date(Date.now() + 2 * 365 * 86_400_000);
  await app.atTime(inTwoYears, () => app.provider(ForgetHandOvers).step());
  assert.equal(await handOvers(), 0);
});

void test('the listener keeps completed documents', async () => {
  await app.put('/fhir/SDCDocument/signed', { status: 'completed' });
  assert.equal((await app.delete('/fhir/SDCDocument/signed')).status, 409);
  assert.equal((await app.get('/fhir/SDCDocument/signed')).status, 200);
});

void test('the policy engine lets its users read, and no more', async () => {
  const { reader } = await world(app, { people: { reader: { policies: [{ engine: 'acme-read-only' }] } } });
  const authorization = reader.bearer;
  assert.equal((await app.get('/fhir/Ward/w1', { authorization })).status, 200);
  assert.equal((await app.delete('/fhir/Ward/w1', { authorization })).status, 403);
});

void test('the route is closed to callers without a policy', async () => {
  const { nurse, guest } = await world(app, { people: { nurse: {}, guest: { policies: [] } } });
  const statusFor = async (authorization: string | null): Promise<number> =>
    (await app.get('/acme/ward-board', { authorization })).status;
  assert.deepEqual(
    [await statusFor(nurse.bearer), await statusFor(guest.bearer), await statusFor(null)],
    [200, 403, 401],
  );
});

void test('the grant exchanges a token for one of another Client', async () => {
  const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const { traveler } = await world(app, {
    people: { traveler: {} },
    resources: { 'Client/kiosk': { secret: 'kiosk-secret', grant_types: [grantType] } },
  });
  const answer = await app.post(
    '/auth/token',
    { grant_type: grantType, subject_token: traveler.bearer.slice('Bearer '.length) },
    { authorization: basicHeader('kiosk', 'kiosk-secret') },
  );
  const authorization = `Bearer ${answer.json<{ access_token: string }>().access_token}`;
  assert.equal((await app.get('/fhir/Ward/w1', { authorization })).status, 200);
});

void test('the kind of destination appends events to a file, in order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ward-'));
  const file = join(folder, 'events.jsonl');
  assert.equal(await deliver('dropped', 'acme-file-drop', [{ name: 'mode', valueString: '0600' }]), 422);
  assert.equal(await deliver('dropped', 'acme-file-drop', [{ name: 'path', valueString: file }]), 201);
  const wards = ['w3', 'w4', 'w5'];
  for (const ward of wards) await app.put(`/fhir/Ward/${ward}`, { beds: 1 });
  const text = await eventually('the last event is in the file', async () => {
    const written = await readFile(file, 'utf8').catch(() => '');
    return written.includes('Ward/w5') && written;
  });
  assert.deepEqual(
    [...text.matchAll(/"reference":"Ward\/(\w+)"/g)].map(([, ward]) => ward),
    wards,
  );
  await app.delete('/fhir/SvcTopicDestination/dropped');
  await rm(folder, { recursive: true });
});

void test('the kind with a secret shows it nowhere, and tries again', async () => {
  const pages: string[] = [];
  const pager = createServer((line) => {
    line.on('data', (page) => {
      pages.push(page.toString());
      if (pages.length === 1) line.resetAndDestroy();
      else line.end('beep');
    });
  });
  await new Promise<void>((resolve) => pager.unref().listen(0, '127.0.0.1', resolve));
  const port = { name: 'port', valueInteger: (pager.address() as AddressInfo).port };
  assert.equal(await deliver('pager', 'acme-pager', [port, { name: 'pin', valueString: '4711' }]), 201);
  assert.doesNotMatch((await app.get('/fhir/SvcTopicDestination/pager')).text, /4711/);
  await app.put('/fhir/Ward/paged', { beds: 1 });
  await eventually('the pager answers', async () =>
    (await app.get('/fhir/SvcTopicDestination/pager/$events?state=delivered')).text.includes('The pager said beep'),
  );
  assert.equal(pages.at(-1)?.startsWith('4711 '), true);
  await app.delete('/fhir/SvcTopicDestination/pager');
});

void test('webhooks of the server deliver events of its resources', async () => {
  const receiver = await WebhookReceiver.start();
  receiver.next({ kind: 'answer', status: 503 });
  const kind = 'svctopicdestination-webhook-at-least-once';
  const topic = 'http://acme.example/hooked';
  await app.post('/fhir/SvcSubscriptionTopic', { url: topic, status: 'active', trigger: [{ resource: 'Ward' }] });
  await app.put('/fhir/SvcTopicDestination/hooked', {
    meta: { profile: [`http://acme.example/StructureDefinition/${kind}`] },
    kind: 'webhook-at-least-once',
    topic,
    parameter: [{ name: 'endpoint', valueUrl: receiver.url }],
  });
  await app.put('/fhir/Ward/hooked', { beds: 1 });
  await eventually('the second attempt arrives', () => receiver.requests.length === 2);
  assert.deepEqual(receiver.references, ['Ward/hooked', 'Ward/hooked']);
  await app.delete('/fhir/SvcTopicDestination/hooked');
  await receiver.stop();
});

void test('the metrics count what was committed', async () => {
  const created = (): number | undefined =>
    app
      .provider(WardMetrics)
      .read()[0]
      ?.samples.find(({ labels }) => labels?.interaction === 'create')?.value;
  const first = created() ?? 0;
  await app.put('/fhir/Ward/counted', { beds: 1 });
  await app.put('/fhir/Ward/refused', { beds: -1 });
  assert.equal(created(), first + 1);
});

void test('addenda of the type are checked', async () => {
  const body = await readFile('src/hand-over-addendum.json', 'utf8');
  assert.equal((await app.post('/rpc', body)).status, 200);
  assert.equal((await app.post('/rpc', body.replace('"4B"', '"four"'))).status, 422);
});
