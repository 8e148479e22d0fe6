import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { countsOf, delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { login } from '../../../testing/world';
import { type TestApp, startTestApp } from '../../../testing/test-app';
import { type NotificationBody, WebhookReceiver } from '../../../testing/webhook-receiver';

/** The number of rounds of each race. */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 10);

const ACTION = 'http://profiles.example/StructureDefinition/bundle-entryActionCode';

let app: TestApp;
let second: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_AUDIT: 'security' } });
  second = await startTestApp({ databaseUrl: app.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await app.close();
});
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(() => receiver.stop());

interface Entry {
  readonly extension: readonly { readonly url: string; readonly valueCode?: string }[];
  readonly request: { readonly method: string; readonly url: string };
  readonly resource?: { readonly meta: { readonly versionId: string } };
}

/** Each received event as "action, request, version". */
const eventsOf = (bodies: readonly NotificationBody[]): string[] =>
  bodies.flatMap(({ entry: [, ...entries] }) =>
    (entries as unknown as Entry[]).map(({ extension, request, resource }) => {
      const action = extension.find(({ url }) => url === ACTION)?.valueCode;
      return `${action} ${request.method} ${request.url} ${resource?.meta.versionId ?? '-'}`;
    }),
  );

const hear = async (type: string, more: object = {}): Promise<string> =>
  newDestination(
    app,
    destination(await newTopic(app, { resource: type }), { includeEntryAction: true, ...more }, receiver.url),
  );

/** The events of the writes in `work`, received until a final write that marks their end. */
async function eventsDuring(
  type: string,
  work: () => Promise<unknown>,
  lastly: () => Promise<unknown>,
): Promise<string[]> {
  const id = await hear(type);
  await work();
  await lastly();
  await eventually('nothing is left to send', async () => {
    const { messagesDelivered = 0, messagesQueued, messagesInProcess } = await countsOf(app, id);
    return messagesDelivered > 0 && messagesQueued === 0 && messagesInProcess === 0;
  });
  await app.delete(`/fhir/SvcTopicDestination/${id}`);
  return eventsOf(receiver.bodies);
}

describe('Each write is one event', () => {
  const put = (id: string, members: object = {}): Promise<unknown> =>
    app.put(`/fhir/Basic/${id}`, { resourceType: 'Basic', id, code: { text: 'x' }, ...members });
  const patch = (path: string, body: object, type: string): Promise<unknown> =>
    app.send('PATCH', path, { body, headers: { 'Content-Type': type } });
  const of = (text: string): object => ({ resourceType: 'Basic', code: { text }, identifier: [{ value: text }] });
  const bundle = (type: string, ...entry: readonly object[]): Promise<unknown> =>
    app.post('/fhir', { resourceType: 'Bundle', type, entry });
  const request = (method: string, url: string, resource?: object): object => ({
    request: { method, url },
    ...(resource === undefined ? {} : { resource }),
  });

  it.each<[string, (id: string) => Promise<unknown>, (id: string) => string[]]>([
    ['POST', (id) => app.post('/fhir/Basic', { ...of(id), id }), () => ['create POST /fhir/Basic 1']],
    [
      'a creating and an updating PUT',
      async (id) => [await put(id), await put(id, { created: '2024' })],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `update PUT /fhir/Basic/${id} 2`],
    ],
    [
      'a repeated PUT without a change',
      async (id) => [await put(id), await put(id)],
      (id) => [`create PUT /fhir/Basic/${id} 1`],
    ],
    [
      'a repeated DELETE',
      async (id) => [await put(id), await app.delete(`/fhir/Basic/${id}`), await app.delete(`/fhir/Basic/${id}`)],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `delete DELETE /fhir/Basic/${id} -`],
    ],
    [
      'a PUT after a DELETE',
      async (id) => [await put(id), await app.delete(`/fhir/Basic/${id}`), await put(id)],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `delete DELETE /fhir/Basic/${id} -`, `create PUT /fhir/Basic/${id} 3`],
    ],
    [
      'JSON Patch',
      async (id) => [
        await put(id),
        await patch(
          `/fhir/Basic/${id}`,
          [{ op: 'add', path: '/created', value: '2024' }],
          'application/json-patch+json',
        ),
      ],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `update PUT /fhir/Basic/${id} 2`],
    ],
    [
      'a merge patch, and one without a change',
      async (id) => [
        await put(id),
        await patch(`/fhir/Basic/${id}`, { created: '2024' }, 'application/merge-patch+json'),
        await patch(`/fhir/Basic/${id}`, { created: '2024' }, 'application/merge-patch+json'),
      ],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `update PUT /fhir/Basic/${id} 2`],
    ],
    [
      'a conditional create, and one with a match',
      async (id) => [
        await app.send('POST', '/fhir/Basic', {
          body: { ...of(id), id },
          headers: { 'If-None-Exist': `identifier=${id}` },
        }),
        await app.send('POST', '/fhir/Basic', { body: of(id), headers: { 'If-None-Exist': `identifier=${id}` } }),
      ],
      () => ['create POST /fhir/Basic 1'],
    ],
    [
      'a conditional update that creates, and one that updates',
      async (id) => [
        await app.put(`/fhir/Basic?identifier=${id}`, { ...of(id), id }),
        await app.put(`/fhir/Basic?identifier=${id}`, { ...of(id), created: '2024' }),
      ],
      (id) => [expect.stringMatching(/^create (PUT|POST) /) as unknown as string, `update PUT /fhir/Basic/${id} 2`],
    ],
    [
      'a conditional patch and a conditional delete',
      async (id) => [
        await put(id, of(id)),
        await patch(`/fhir/Basic?identifier=${id}`, { created: '2024' }, 'application/merge-patch+json'),
        await app.delete(`/fhir/Basic?identifier=${id}`),
      ],
      (id) => [`create PUT /fhir/Basic/${id} 1`, `update PUT /fhir/Basic/${id} 2`, `delete DELETE /fhir/Basic/${id} -`],
    ],
    [
      'each entry of a transaction',
      async (id) => [
        await put(`${id}-gone`),
        await bundle(
          'transaction',
          request('PUT', `Basic/${id}`, { ...of(id), id }),
          request('POST', 'Basic', of(`${id}-b`)),
          request('DELETE', `Basic/${id}-gone`),
        ),
      ],
      (id) => [
        `create PUT /fhir/Basic/${id}-gone 1`,
        ...[`delete DELETE /fhir/Basic/${id}-gone -`, 'create POST /fhir/Basic 1', `create PUT /fhir/Basic/${id} 1`],
      ],
    ],
    [
      'no entry of a transaction that fails',
      (id) =>
        bundle(
          'transaction',
          request('PUT', `Basic/${id}`, { ...of(id), id }),
          request('PUT', `Basic/${id}-b`, { resourceType: 'Basic', id: `${id}-b` }),
        ),
      () => [],
    ],
    [
      'the entries of a batch that succeed',
      (id) =>
        bundle(
          'batch',
          request('PUT', `Basic/${id}-b`, { resourceType: 'Basic', id: `${id}-b` }),
          request('PUT', `Basic/${id}`, { ...of(id), id }),
        ),
      (id) => [`create PUT /fhir/Basic/${id} 1`],
    ],
    [
      'a serializable write',
      (id) =>
        app.send('PUT', `/fhir/Basic/${id}`, {
          body: { ...of(id), id },
          headers: { 'x-max-isolation-level': 'serializable' },
        }),
      (id) => [`create PUT /fhir/Basic/${id} 1`],
    ],
    [
      'no refused write',
      async (id) => [
        await app.put(`/fhir/Basic/${id}`, { resourceType: 'Basic', id }),
        await app.send('PUT', `/fhir/Basic/${id}`, { body: of(id), headers: { 'If-Match': 'W/"4"' } }),
        await app.send('POST', `/fhir/Basic/$validate`, { body: of(id) }),
      ],
      () => [],
    ],
  ])('for %s', async (_what, work, expected) => {
    const id = newName();
    const last = `${id}-last`;
    const events = await eventsDuring(
      'Basic',
      () => work(id),
      () => put(last),
    );
    expect(events.slice(0, -1).sort()).toEqual([...expected(id)].sort());
    expect(events.at(-1)).toBe(`create PUT /fhir/Basic/${last} 1`);
  });
});

describe('Events of the types of the server', () => {
  const user = { resourceType: 'User', id: 'admin' };

  it('SDCDocument and SDCAddendum: also for writes by RPC methods', async () => {
    const [documents, addenda] = [await hear('SDCDocument'), await hear('SDCAddendum')];
    const id = newName();
    const document = { resourceType: 'SDCDocument', id, status: 'completed', pulse: { value: 72.1 } };
    await app.put(`/fhir/SDCDocument/${id}`, document);
    const target = { resourceType: 'SDCDocument', id };
    await app.post('/rpc', { method: 'svc.sdc.addendum/add-to-history', params: { resource: document, user } });
    const note = await app.post('/rpc', { method: 'svc.sdc.addendum/add-note', params: { target, user, text: 'n' } });
    expect(note.status).toBe(200);
    await delivered(app, documents, 1);
    await delivered(app, addenda, 2);
    const events = eventsOf(receiver.bodies);
    expect(events.filter((event) => event.includes('SDCDocument'))).toEqual([`create PUT /fhir/SDCDocument/${id} 1`]);
    expect(events.filter((event) => event.includes('SDCAddendum'))).toEqual([
      'create POST /fhir/SDCAddendum 1',
      'create POST /fhir/SDCAddendum 1',
    ]);
  });

  it('AuditEvent: are sent, and sending them records no further AuditEvent', async () => {
    const id = await hear('AuditEvent');
    await app.put(`/Client/${newName()}`, { secret: 'a secret', grant_types: ['basic'] });
    await eventually('it is delivered', async () => ((await countsOf(app, id)).messagesDelivered ?? 0) > 0);
    const events = eventsOf(receiver.bodies);
    expect(new Set(events)).toEqual(new Set(['create POST /fhir/AuditEvent 1']));
    const bodies = receiver.requests.map(({ body }) => body).join();
    expect(bodies).toContain('"resourceType":"AuditEvent"');
    expect(bodies).not.toContain('a secret');
  });

  it('Session and User: are sent without secrets', async () => {
    const [sessions, users] = [await hear('Session'), await hear('User')];
    const name = newName();
    const { bearer } = await login(app, name);
    await app.delete('/Session', { authorization: bearer });
    await delivered(app, sessions, 2);
    await eventually('the User came', async () => ((await countsOf(app, users)).messagesDelivered ?? 0) > 0);
    const bodies = receiver.requests.map(({ body }) => body).join();
    expect(bodies).not.toContain(bearer.slice('Bearer '.length));
    expect(bodies).not.toContain('argon2');
    expect(bodies).toContain('"password":"***"');
  });
});

describe('A destination', () => {
  it('receives every write that began after its 201, from each server', async () => {
    const url = await newTopic(app, { resource: 'Flag' });
    const flag = (id: string): object => ({
      resourceType: 'Flag',
      id,
      status: 'active',
      code: { text: 'x' },
      subject: { reference: 'Patient/p' },
    });
    for (let round = 0; round < ROUNDS; round++) {
      const [here, there] = round % 2 === 0 ? [app, second] : [second, app];
      let isCreated = false;
      const begunAfter: string[] = [];
      const writer = async (on: TestApp): Promise<void> => {
        for (let left = 6; left > 0;) {
          const id = newName();
          if (isCreated) {
            left -= 1;
            begunAfter.push(`Flag/${id}`);
          }
          const answer = await (left % 2 === 0
            ? on.put(`/fhir/Flag/${id}`, flag(id))
            : on.post('/fhir', {
                resourceType: 'Bundle',
                type: 'transaction',
                entry: [{ request: { method: 'PUT', url: `Flag/${id}` }, resource: flag(id) }],
              }));
          expect(answer.status).toBeLessThan(300);
        }
      };
      const writers = [app, second, app, second].map(writer);
      const id = await newDestination(here, destination(url, { content: 'id-only' }, receiver.url));
      isCreated = true;
      await Promise.all([...writers, there.get('/health')]);
      await eventually('all came', () => begunAfter.every((reference) => receiver.references.includes(reference)));
      await app.delete(`/fhir/SvcTopicDestination/${id}`);
    }
  });

  it('receives nothing that was written after the response to its deletion', async () => {
    const url = await newTopic(app, { resource: 'Flag' });
    const id = await newDestination(app, destination(url, {}, receiver.url));
    await app.delete(`/fhir/SvcTopicDestination/${id}`);
    const last = await newDestination(app, destination(url, {}, receiver.url));
    const flag = newName();
    await second.put(`/fhir/Flag/${flag}`, {
      resourceType: 'Flag',
      id: flag,
      status: 'active',
      code: { text: 'x' },
      subject: { reference: 'Patient/p' },
    });
    await delivered(app, last, 1);
    expect(receiver.requests.length).toBe(1);
  });
});
