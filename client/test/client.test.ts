import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import {
  document,
  isNote,
  SignatureError,
  SvcClient,
  SvcError,
  type Topic,
  user,
  type WebhookEvent,
  WebhookReceiver,
} from 'svc-health-client';

/** Set by tools/try-client.cjs, which starts the server. */
const { SVC_URL: baseUrl = '', SVC_ROOT: rootSecret = '' } = process.env;
const root = SvcClient.with({ baseUrl }, `Basic ${btoa(`root:${rootSecret}`)}`);
const login = { clientId: 'app', username: 'ana', password: 'a long password' };
const SECRET = btoa('thirty-two bytes of a secret key');
const target = document('vitals-1');
const author = user('ana');

before(async () => {
  await root.update({
    resourceType: 'Client',
    id: 'app',
    grant_types: ['password'],
    auth: { password: { refresh_token: true, token_expiration: 2 } },
  });
  await root.update({ resourceType: 'User', id: 'ana', userName: 'ana', password: 'a long password' });
  await root.update({
    resourceType: 'AccessPolicy',
    id: 'ana',
    engine: 'allow',
    link: [{ resourceType: 'User', id: 'ana' }],
  });
  await root.delete('AccessPolicy', 'trial');
  await root.update({ resourceType: 'Patient', id: 'p1', name: [{ family: 'Rivera' }], gender: 'female' });
  await root.update({
    resourceType: 'SDCDocument',
    id: 'vitals-1',
    status: 'completed',
    patient: { resourceType: 'Patient', id: 'p1' },
  });
});

test('renews expired tokens once for all concurrent calls, and closes the Session', async () => {
  const sent: string[] = [];
  const counted = (input: string, init: RequestInit): Promise<Response> => {
    sent.push(new URL(input).pathname);
    return fetch(input, init);
  };
  const client = await SvcClient.login({ baseUrl, fetch: counted }, login);
  for (let round = 1; round <= 2; round++) {
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const patients = await Promise.all(Array.from({ length: 8 }, () => client.read('Patient', 'p1')));
    assert.deepEqual(new Set(patients.map(({ gender }) => gender)), new Set(['female']));
    assert.equal(sent.filter((path) => path === '/auth/token').length, 1 + round);
  }
  await client.logout();
  await assert.rejects(client.read('Patient', 'p1'), { status: 401 });
});

test('renews a token that was closed elsewhere, and refuses a wrong password in words', async () => {
  const [first, second] = await Promise.all([SvcClient.login({ baseUrl }, login), SvcClient.login({ baseUrl }, login)]);
  await first.logout();
  assert.equal((await second.read('Patient', 'p1')).id, 'p1');
  await assert.rejects(SvcClient.login({ baseUrl }, { ...login, password: 'wrong' }), {
    status: 400,
    code: 'credentials-wrong',
  });
  await assert.rejects(second.read('Patient', 'nobody'), { status: 404, code: 'resource-not-found' });
  await assert.rejects(second.rpc('svc.sdc.addendum/verify', {} as never), { status: 422, code: 'rpc-params-invalid' });
});

test('adds addenda, and tells their kinds apart', async () => {
  const client = await SvcClient.login({ baseUrl }, login);
  const note = await client.addenda.addNote({ target, user: author, text: 'The patient was seated.' });
  assert.equal(note.text, 'The patient was seated.');
  await client.addenda.addComment({ target, user: author, text: 'Again, please.', path: ['status'] });
  await client.addenda.create({ type: 'acme.sdc.addendum/Handover', target, user: author, ward: '4B' });
  assert.equal(await client.addenda.createAmendment({ target, user: author }), null);
  const addenda = await client.addenda.list(target);
  assert.deepEqual(
    addenda.filter(isNote).map(({ text }) => text),
    ['The patient was seated.'],
  );
  assert.equal(addenda.length, 3);
  assert.equal((await client.addenda.verify(target)).intact, true);
  await assert.rejects(client.addenda.list(document('none')), { status: 422, message: 'Resource not found' });
});

test('repeats a call that lost its answer, which writes once, and no refusal', async () => {
  const lost = document('vitals-2');
  await root.update({ ...lost, status: 'completed' });
  const keys: (string | null)[] = [];
  const losing = async (input: string, init: RequestInit): Promise<Response> => {
    keys.push(new Headers(init.headers).get('idempotency-key'));
    const response = await fetch(input, init);
    if (keys.length === 1) throw new TypeError('terminated');
    return keys.length === 2 ? new Response('{"error":{"message":"A call is running."}}', { status: 409 }) : response;
  };
  const client = SvcClient.with({ baseUrl, fetch: losing }, `Basic ${btoa(`root:${rootSecret}`)}`);
  const note = await client.addenda.addNote({ target: lost, user: author, text: 'Once.' });
  assert.deepEqual(await client.addenda.list(lost), [note]);
  assert.deepEqual([keys.length, new Set(keys).size], [4, 2]);
  await assert.rejects(client.addenda.addNote({ target: document('none'), user: author, text: 'No.' }), {
    status: 422,
  });
  assert.equal(keys.length, 5);
  await assert.rejects(client.rpc('svc/echo', {}, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.equal(keys.length, 6);
});

test('streams all that belongs to a patient, and pages of a search', async () => {
  const client = await SvcClient.login({ baseUrl }, login);
  for (let index = 0; index < 25; index++) {
    await root.update({
      resourceType: 'Observation',
      id: `o${index}`,
      status: 'final',
      code: { text: 'Weight' },
      subject: { reference: 'Patient/p1' },
    });
  }
  const types = new Map<string, number>();
  for await (const { resourceType } of client.everything('p1'))
    types.set(resourceType, (types.get(resourceType) ?? 0) + 1);
  assert.deepEqual(
    ['Patient', 'Observation', 'SDCDocument'].map((type) => types.get(type)),
    [1, 25, 1],
  );
  const found = new Set<string | undefined>();
  for await (const { id, status } of client.search('Observation', { patient: 'p1', _count: 10 })) {
    assert.equal(status, 'final');
    found.add(id);
  }
  assert.equal(found.size, 25);
  for await (const resource of client.everything('p1')) {
    assert.equal(resource.resourceType, 'Patient');
    break; // leaves the answer
  }
});

test('gives the texts of what belongs to a patient, with all digits, and ends when it is aborted', async () => {
  const client = await SvcClient.login({ baseUrl }, login);
  const answer = await fetch(`${baseUrl}/fhir/Observation/digits`, {
    method: 'PUT',
    headers: { Authorization: `Basic ${btoa(`root:${rootSecret}`)}`, 'Content-Type': 'application/json' },
    body: `{"resourceType":"Observation","id":"digits","status":"final","code":{"text":"Weight"},
      "subject":{"reference":"Patient/p1"},"valueQuantity":{"value":72.50,"unit":"kg"}}`,
  });
  assert.equal(answer.status, 201);
  const texts: string[] = [];
  for await (const text of client.everythingTexts('p1', { _type: 'Observation' })) texts.push(text);
  assert.equal(texts.filter((text) => text.includes('"value":72.50')).length, 1);
  await root.delete('Observation', 'digits');
  const stop = new AbortController();
  await assert.rejects(
    async () => {
      for await (const text of client.everythingTexts('p1', {}, { signal: stop.signal })) {
        assert.ok(text.startsWith('{'));
        stop.abort();
      }
    },
    { name: 'AbortError' },
  );
});

test('receives events once, and refuses what is not signed', async (context) => {
  const receiver = new WebhookReceiver({ secret: SECRET });
  const events: WebhookEvent[] = [];
  const bodies: { headers: Record<string, string>; body: string }[] = [];
  const repeats: number[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      bodies.push({ headers, body });
      receiver
        .receive({ headers, body }, (event) => void events.push(event))
        .then(
          ({ repeated }) => {
            repeats.push(repeated);
            response.writeHead(204).end();
          },
          () => response.writeHead(401).end(),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  await root.update({
    resourceType: 'SvcSubscriptionTopic',
    id: 't1',
    url: 'https://clinic.example/topics/patients',
    status: 'active',
    trigger: [{ resource: 'Patient' }],
  });
  const { id = '' } = await root.destinations.create({
    meta: { profile: ['https://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
    kind: 'webhook-at-least-once',
    topic: 'https://clinic.example/topics/patients',
    parameter: [
      { name: 'endpoint', valueUrl: endpoint },
      { name: 'secret', valueString: SECRET },
    ],
  });
  context.after(() => root.destinations.delete(id));
  await root.update({ resourceType: 'Patient', id: 'p2', gender: 'male' });
  await root.update({ resourceType: 'Patient', id: 'p2', gender: 'other' });
  await eventually(() => events.length === 2);
  assert.deepEqual(
    events.map(({ eventNumber, focus, method }) => [eventNumber, focus, method]),
    [
      [1, 'Patient/p2', 'PUT'],
      [2, 'Patient/p2', 'PUT'],
    ],
  );
  assert.equal((events[1]?.resource as { gender?: string } | undefined)?.gender, 'other');
  await eventually(async () => (await root.destinations.status(id)).messagesDelivered === 2);
  await root.destinations.replay(id, { from: 1, to: 2 });
  await eventually(() => repeats.reduce((sum, repeated) => sum + repeated, 0) === 2);
  assert.equal(events.length, 2);
  let listed = 0;
  for await (const { name } of root.destinations.events(id)) listed += name === 'event' ? 1 : 0;
  assert.equal(listed, 2);
  const [first] = bodies;
  assert.ok(first);
  await assert.rejects(
    receiver.receive({ ...first, body: first.body.replace('male', 'none') }, () => undefined),
    SignatureError,
  );
  await assert.rejects(
    receiver.receive({ headers: {}, body: first.body }, () => undefined),
    SignatureError,
  );
  const overview = [];
  for await (const one of root.destinations.overview({ _count: 1 })) overview.push(one);
  assert.deepEqual(
    overview.map(({ id, state, queued, hours }) => [id, state, queued, hours.map(({ delivered }) => delivered)]),
    [[id, 'active', 0, [4]]],
  );
  const one = await root.destinations.overviewOf(id);
  assert.deepEqual([one?.id, await root.destinations.overviewOf('none')], [id, undefined]);
  const pages = [];
  for await (const page of root.destinations.timeline(id, { _count: 1 }))
    pages.push(
      page.map(({ number, state, focus, attempts, attempt }) => [number, state, focus, attempts, attempt.length]),
    );
  assert.deepEqual(pages, [[[2, 'delivered', 'Patient/p2', 2, 2]], [[1, 'delivered', 'Patient/p2', 2, 2]]]);
  const request = await root.destinations.request(id, 1);
  const headers = new Map(request.headers.map(({ name, value }) => [name, value]));
  assert.deepEqual(
    [request.url, headers.get('webhook-id'), headers.get('webhook-signature')],
    [endpoint, first.headers['webhook-id'], '***'],
  );
  assert.deepEqual(await root.destinations.previewReplay(id, { from: 2 }), { events: 1, from: 2, to: 2 });
  await root.destinations.retry(id);
  const stored = { ...(await root.destinations.read(id)), id };
  await assert.rejects(root.destinations.update({ ...stored, content: 'empty' }, '9'), { status: 412 });
  assert.equal(
    (await root.destinations.update({ ...stored, content: 'empty' }, stored.meta?.versionId)).content,
    'empty',
  );
  const status = await root.destinations.status(id);
  assert.deepEqual([status.status, status.messagesQueued, status.lastErrors], ['active', 0, []]);
});

test('tries a topic on the history', async () => {
  const topic = { resourceType: 'SvcSubscriptionTopic', url: 'https://clinic.example/topics/draft', status: 'draft' };
  const trigger = [{ resource: 'Patient', fhirPathCriteria: "id = 'p2' and gender = 'other'" }];
  const run = await root.topics.dryRun({ ...topic, trigger } as Topic, { fires: true, count: 20 });
  assert.deepEqual(
    [run.events, run.isComplete, run.versions.map(({ reference }) => reference)],
    [...[1, true], ['Patient/p2/_history/2']],
  );
  assert.ok(run.unmet.some(({ clause, versions }) => clause === "gender = 'other'" && versions === 1));
});

test('tells the status of the server, lists Sessions, and closes one of another caller', async () => {
  const client = await SvcClient.login({ baseUrl }, login);
  const { health, server, requests, sessions, delivery, storage, missing } = await root.server.status();
  assert.deepEqual([health.status, server?.processes, delivery?.destinations, missing], ['pass', 1, 0, []]);
  assert.ok((sessions?.active ?? 0) > 0 && (storage?.table?.length ?? 0) > 0);
  const logins = requests.find(({ class: name }) => name === 'login');
  assert.ok((logins?.count ?? 0) > 0 && (logins?.p95Seconds ?? 0) > 0 && logins?.within.length === 12);
  const open: string[] = [];
  for await (const { id = '' } of root.search('Session', { active: true, user: 'User/ana' })) open.push(id);
  const closed = await Promise.all(open.map((id) => root.sessions.close(id)));
  assert.deepEqual(new Set(closed.map(({ active }) => active)), new Set([false]));
  await assert.rejects(client.request('GET', '/auth/userinfo', {}), { status: 401 });
});

test('reads pages, the history of a resource and the plan of a search', async () => {
  const pages = root.pages('Observation', { patient: 'p1', _count: 10 });
  assert.equal((await pages.next()).value?.entry?.length, 10);
  assert.equal((await pages.next()).value?.entry?.length, 10);
  await root.update({ resourceType: 'Patient', id: 'p3', gender: 'male' });
  await root.update({ resourceType: 'Patient', id: 'p3', gender: 'female' });
  await root.delete('Patient', 'p3');
  const versions = [];
  for await (const { resource, request } of root.history('Patient', 'p3'))
    versions.push([request?.method, (resource as { gender?: string } | undefined)?.gender]);
  assert.deepEqual(versions, [
    ['DELETE', undefined],
    ['PUT', 'female'],
    ['PUT', 'male'],
  ]);
  const { query, plan } = await root.explain('Patient', { gender: 'female' });
  assert.match(JSON.stringify([query, plan]), /select.*Scan/is);
});

test('explains a denial, tries a policy, and makes a link to amendments', async () => {
  const client = await SvcClient.login({ baseUrl }, login);
  const link = await client.addenda.amendmentsLink(target);
  assert.match(link.url, /\$amendments\?link-token=/);
  assert.ok(Date.parse(link.expires) > Date.now());
  await root.update({ resourceType: 'Client', id: 'stranger', secret: 'a secret', grant_types: ['basic'] });
  const stranger = SvcClient.with({ baseUrl }, `Basic ${btoa('stranger:a secret')}`);
  const error = await stranger.read('Patient', 'p1').catch((thrown: unknown) => thrown);
  assert.ok(error instanceof SvcError && error.status === 403);
  const { request } = await root.access.decision(error.decisionId ?? 'none');
  assert.deepEqual([request['operation'], request['client']], ['FhirRead', 'stranger']);
  const { result } = await root.access.test(
    { 'request-method': 'get', uri: '/fhir/Patient/p1', 'client-id': 'stranger' },
    { engine: 'allow', link: [{ resourceType: 'Client', id: 'stranger' }] },
  );
  assert.equal(result['eval-result'], true);
  const tried = await root.access.testRequest({ uri: '/fhir/Patient/p1', 'client-id': 'stranger' });
  assert.deepEqual([tried.decision.granted, tried.policies, typeof tried.note], [false, [], 'string']);
});

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await isSo()) return;
  }
  assert.fail('It did not come to pass within 30 s.');
}
