import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../testing/eventually';
import { type NotificationBody, WebhookReceiver } from '../../../testing/webhook-receiver';
import { eventsOf, useDestinationApp } from '../../support/destination-app';
import { newName } from '../../support/destinations';

const used = useDestinationApp();
const { endpoint, newTopic, newDestination, write, delivered, received } = used;

describe('A notification', () => {
  it('is a POST of a history bundle with a status and the versions of the events', async () => {
    const destinationId = await newDestination(await newTopic());
    const id = newName();
    used.receiver.next({ kind: 'held' });
    const created = await used.app.post('/fhir/Patient', {
      resourceType: 'Patient',
      active: true,
      multipleBirthInteger: 1,
    });
    const createdId = created.json<{ id: string }>().id;
    await received(1);
    const put = await write(id, { extension: [{ url: 'http://x', valueDecimal: 1 }] });
    await used.app.delete(`/fhir/Patient/${id}`);
    used.receiver.release();
    await delivered(destinationId, 3);
    const [first, second] = [used.receiver.request(0), used.receiver.request(1)];
    expect([first.method, first.path, first.headers['content-type'], first.headers['webhook-id']]).toEqual([
      'POST',
      '/hook',
      'application/json',
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    const topic = (await used.app.get(`/fhir/SvcTopicDestination/${destinationId}`)).json().topic;
    const statusOf = (events: readonly [number, string][]): object => ({
      resource: {
        resourceType: 'SvcSubscriptionStatus',
        extension: [
          {
            url: 'http://profiles.example/StructureDefinition/delivery-generation',
            valueUuid: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
          },
        ],
        status: 'active',
        type: 'event-notification',
        notificationEvent: events.map(([eventNumber, reference]) => ({ eventNumber, focus: { reference } })),
        topic,
        'topic-destination': { reference: `SvcTopicDestination/${destinationId}` },
      },
    });
    const bundle = (entry: readonly object[]): object => ({
      resourceType: 'Bundle',
      type: 'history',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      entry,
    });
    expect([JSON.parse(first.body), JSON.parse(second.body)]).toEqual([
      bundle([
        statusOf([[1, `Patient/${createdId}`]]),
        {
          fullUrl: `http://svc.example/fhir/Patient/${createdId}`,
          request: { method: 'POST', url: '/fhir/Patient' },
          resource: created.json(),
        },
      ]),
      bundle([
        statusOf([
          [2, `Patient/${id}`],
          [3, `Patient/${id}`],
        ]),
        {
          fullUrl: `http://svc.example/fhir/Patient/${id}`,
          request: { method: 'PUT', url: `/fhir/Patient/${id}` },
          resource: put.json(),
        },
        { fullUrl: `http://svc.example/fhir/Patient/${id}`, request: { method: 'DELETE', url: `/fhir/Patient/${id}` } },
      ]),
    ]);
  });

  it('has the content of each type if resources of two types have the same id', async () => {
    const destinationId = await newDestination(
      await newTopic({}, { trigger: [{ resource: 'Patient' }, { resource: 'Basic' }] }),
    );
    const id = newName();
    const entry = ['Patient', 'Basic'].map((resourceType) => ({
      resource: { resourceType, id, ...(resourceType === 'Basic' ? { code: { text: 'x' } } : {}) },
      request: { method: 'PUT', url: `${resourceType}/${id}` },
    }));
    expect((await used.app.post('/fhir', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    await delivered(destinationId, 2);
    expect(used.receiver.bodies.flatMap((body) => body.entry.slice(1))).toEqual(
      expect.arrayContaining(
        ['Patient', 'Basic'].map((type) =>
          expect.objectContaining({
            fullUrl: `http://svc.example/fhir/${type}/${id}`,
            resource: expect.objectContaining({ resourceType: type, id }),
          }),
        ),
      ),
    );
  });

  it('keeps the digits of numbers', async () => {
    await newDestination(await newTopic());
    const id = newName();
    await used.app.put(
      `/fhir/Patient/${id}`,
      `{"resourceType":"Patient","id":"${id}","extension":[{"url":"http://x","valueDecimal":1.100}]}`,
    );
    await received(1);
    expect(used.receiver.requests[0]?.body).toContain('"valueDecimal":1.100');
  });

  it('has no resource with content id-only, and no entry with content empty', async () => {
    const topic = await newTopic();
    await newDestination(topic, [{ name: 'endpoint', valueUrl: `${used.receiver.url}/id-only` }], {
      content: 'id-only',
    });
    await newDestination(topic, [{ name: 'endpoint', valueUrl: `${used.receiver.url}/empty` }], { content: 'empty' });
    const id = newName();
    await write(id);
    await received(2);
    const entries = Object.fromEntries(
      used.receiver.requests.map(({ path, body }) => [path, (JSON.parse(body) as NotificationBody).entry.slice(1)]),
    );
    expect(entries).toEqual({
      '/hook/id-only': [
        { fullUrl: `http://svc.example/fhir/Patient/${id}`, request: { method: 'PUT', url: `/fhir/Patient/${id}` } },
      ],
      '/hook/empty': [],
    });
    expect(used.receiver.references).toEqual([`Patient/${id}`, `Patient/${id}`]);
  });

  it('has action and version if the destination requests them', async () => {
    const flags = {
      includeEntryAction: true,
      includeVersionId: true,
      includeVersionIdInFocusReference: true,
      content: 'id-only',
    };
    await newDestination(await newTopic(), [endpoint()], flags);
    const id = newName();
    await write(id);
    await received(1);
    expect([used.receiver.references, used.receiver.bodies[0]?.entry[1]]).toMatchObject([
      [`Patient/${id}/_history/1`],
      {
        extension: [
          { url: 'http://profiles.example/StructureDefinition/bundle-entryActionCode', valueCode: 'create' },
          { url: 'http://profiles.example/StructureDefinition/bundle-entryVersionId', valueId: '1' },
        ],
      },
    ]);
  });
});

describe('Events', () => {
  it('are not created by writes that are refused or change nothing', async () => {
    const destinationId = await newDestination(await newTopic());
    const id = newName();
    await write(id, { active: true });
    await write(id, { active: true });
    await used.app.put(
      `/fhir/Patient/${id}`,
      { resourceType: 'Patient', id, active: false },
      { headers: { 'If-Match': 'W/"7"' } },
    );
    await used.app.delete(`/fhir/Patient/${newName()}`);
    const last = newName();
    await write(last);
    await delivered(destinationId, 2);
    expect(used.receiver.references).toEqual([`Patient/${id}`, `Patient/${last}`]);
  });

  it('are sent in batches of at most maxMessagesInBatch, oldest first', async () => {
    const destinationId = await newDestination(await newTopic(), [
      endpoint(),
      { name: 'maxMessagesInBatch', valueUnsignedInt: 3 },
    ]);
    used.receiver.next({ kind: 'held' });
    const [first = '', ...rest] = Array.from({ length: 8 }, newName);
    await write(first);
    await received(1);
    for (const id of rest) await write(id);
    used.receiver.release();
    await delivered(destinationId, 8);
    const expected = [first, ...rest].map((id, index) => [index + 1, `Patient/${id}`]);
    expect(eventsOf(used.receiver.bodies)).toEqual([
      expected.slice(0, 1),
      expected.slice(1, 4),
      expected.slice(4, 7),
      expected.slice(7),
    ]);
  });

  it('are sent in batches of 20 by default', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'held' });
    await write(newName());
    await received(1);
    await Promise.all(Array.from({ length: 25 }, () => write(newName())));
    used.receiver.release();
    await delivered(destinationId, 26);
    expect(used.receiver.bodies.map(({ entry }) => entry.length - 1)).toEqual([1, 20, 5]);
  });

  it('of more than 8 MiB are sent in batches of one', async () => {
    const destinationId = await newDestination(await newTopic());
    used.receiver.next({ kind: 'held' });
    await write(newName());
    await received(1);
    const long = {
      text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(9_000_000)}</div>` },
    };
    await write(newName(), long);
    await write(newName(), long);
    await write(newName());
    used.receiver.release();
    await delivered(destinationId, 4);
    expect(eventsOf(used.receiver.bodies).map((events) => events.map(([number]) => number))).toEqual([
      [1],
      [2],
      [3],
      [4],
    ]);
  });

  it('of one resource are sent in the order of its versions, with many concurrent writers', async () => {
    const destinationId = await newDestination(await newTopic());
    const ids = Array.from({ length: 4 }, newName);
    const writers = Array.from({ length: 8 }, async (_value, writer) => {
      for (let round = 0; round < 8; round++)
        await write(ids[round % 4] ?? '', { multipleBirthInteger: writer * 100 + round });
    });
    await Promise.all(writers);
    await delivered(destinationId, 64);
    const versions = new Map<string, number[]>();
    for (const { entry } of used.receiver.bodies) {
      for (const { resource } of entry.slice(1) as { resource: { id: string; meta: { versionId: string } } }[]) {
        versions.set(resource.id, [...(versions.get(resource.id) ?? []), Number(resource.meta.versionId)]);
      }
    }
    const inOrder = Array.from({ length: 16 }, (_value, index) => index + 1);
    expect(versions).toEqual(new Map(ids.map((id) => [id, inOrder])));
    expect(eventsOf(used.receiver.bodies).flatMap((events) => events.map(([number]) => number))).toEqual(
      Array.from({ length: 64 }, (_value, index) => index + 1),
    );
  });

  it('are sent to each destination of the topic, and a failing one does not delay others', async () => {
    const topic = await newTopic();
    const failing = await WebhookReceiver.start();
    try {
      failing.always({ kind: 'answer', status: 500 });
      await newDestination(topic, [{ name: 'endpoint', valueUrl: failing.url }]);
      const healthy = await newDestination(topic);
      for (let count = 0; count < 3; count++) await write(newName());
      await delivered(healthy, 3);
      await eventually('the failing one was tried again', () => failing.requests.length > 1);
    } finally {
      await failing.stop();
    }
  });
});
