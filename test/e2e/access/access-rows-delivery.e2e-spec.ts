import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

const TOPIC = 'http://topics.example/observations';

interface Status {
  readonly parameter: readonly { readonly name: string; readonly valueDecimal?: number }[];
}

describe('destinations receive only events that their principal may read', () => {
  let app: TestApp;
  let nurse: Person;
  let boss: Person;
  let names = 0;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_DELIVERY_POLL_MILLISECONDS: '60000' } });
    const criteria = [
      'Observation?subject=Patient/own-p',
      'Observation?subject:Patient.organization=Organization/own',
      'SvcTopicDestination',
    ];
    nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria }] });
    boss = await login(app, 'boss');
    await app.put('/SvcSubscriptionTopic/observations', {
      url: TOPIC,
      status: 'active',
      trigger: [{ resource: 'Observation' }],
    });
  });
  afterAll(() => app.close());

  /** A destination with an endpoint at which nothing listens, so captured events stay in the queue. */
  const destination = (more: object = {}): object => ({
    resourceType: 'SvcTopicDestination',
    meta: { profile: ['http://x.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
    kind: 'webhook-at-least-once',
    topic: TOPIC,
    parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' }],
    ...more,
  });

  const store = (path: string, as: Person | undefined, more: object = {}): Promise<Received> =>
    app.put(`/SvcTopicDestination/${path}`, destination(more), as === undefined ? {} : { authorization: as.bearer });

  async function newDestination(as: Person | undefined, more: object = {}): Promise<string> {
    const id = `d${++names}`;
    const answer = await store(id, as, more);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return id;
  }

  async function eventCount(id: string): Promise<number> {
    const { parameter } = (await app.get(`/SvcTopicDestination/${id}/$status`)).json<Status>();
    return parameter
      .filter(({ name }) => name === 'messagesQueued' || name === 'messagesInProcess')
      .reduce((sum, { valueDecimal = 0 }) => sum + valueDecimal, 0);
  }

  const observe = (id: string, patient: string, more: object = {}): Promise<Received> =>
    app.put(`/Observation/${id}`, {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'pulse' },
      subject: { reference: `Patient/${patient}` },
      ...more,
    });

  it('by the row criteria of the creator, evaluated on the rows as they are written', async () => {
    const [limited, unlimited, ofClient] = [
      await newDestination(nurse),
      await newDestination(boss),
      await newDestination(undefined),
    ];
    await observe('a1', 'canary-p');
    await observe('a2', 'own-p');
    await observe('a1', 'own-p'); // now granted
    await observe('a2', 'canary-p'); // no longer granted
    await app.put('/Patient/other-p', { managingOrganization: { reference: 'Organization/own' } });
    await observe('a3', 'other-p'); // granted, since the criteria chain to the patient's organization
    await app.post('/fhir', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: ['own-p', 'canary-p'].map((patient) => ({
        request: { method: 'POST', url: 'Observation' },
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'pulse' },
          subject: { reference: `Patient/${patient}` },
        },
      })),
    });
    expect(await eventCount(limited)).toBe(4);
    expect([await eventCount(unlimited), await eventCount(ofClient)]).toEqual([7, 7]);
  });

  it('without deletions, if the principal is limited to rows', async () => {
    await observe('b1', 'own-p');
    const [limited, unlimited] = [await newDestination(nurse), await newDestination(boss)];
    await app.delete('/Observation/b1');
    expect([await eventCount(limited), await eventCount(unlimited)]).toEqual([0, 1]);
  });

  it('by the policies at the time of the write', async () => {
    const guest = await login(app, 'guest');
    const id = await newDestination(guest);
    await observe('c1', 'canary-p');
    await app.delete('/AccessPolicy/policy-of-guest');
    await observe('c2', 'canary-p');
    expect(await eventCount(id)).toBe(1);
  });

  it.each([
    ['User', { inactive: true }, { password: 'password of owner' }],
    ['Client', { active: false }, { secret: 'owner', grant_types: ['basic'] }],
  ])(
    'and none while that %s is deleted or inactive, whatever the policies grant',
    async (resourceType, out, credentials) => {
      const [owner, link] = [`/${resourceType}/owner`, { resourceType, id: 'owner' }];
      await app.put(owner, credentials);
      await app.put(`/AccessPolicy/policy-of-owner-${resourceType}`, { engine: 'allow', link: [link] });
      const id = `of-owner-${resourceType}`;
      const stored =
        resourceType === 'User'
          ? await store(id, undefined, { principal: link })
          : await app.put(`/SvcTopicDestination/${id}`, destination(), {
              authorization: basicHeader('owner', 'owner'),
            });
      expect(stored.status).toBe(201);
      const receives = async (patient: string): Promise<boolean> => {
        const before = await eventCount(id);
        await observe(`of-${resourceType}`, patient);
        return (await eventCount(id)) > before;
      };
      expect(await receives('first')).toBe(true);
      await app.put(owner, { ...credentials, ...out });
      expect(await receives('second')).toBe(false);
      await app.put(owner, credentials);
      expect(await receives('third')).toBe(true);
      await app.delete(owner);
      expect(await receives('fourth')).toBe(false);
    },
  );

  it('by the row criteria of the User that the destination names as principal', async () => {
    const principal = { resourceType: 'User', id: 'nurse' };
    const id = await newDestination(boss, { principal });
    await observe('e1', 'canary-p');
    await observe('e2', 'own-p');
    expect(await eventCount(id)).toBe(1);
  });

  it('by the links of the Roles of the principal', async () => {
    const organization = (id: string): object => ({ links: { organization: { resourceType: 'Organization', id } } });
    const criteria = 'Observation?subject:Patient.organization=Organization/{{session.role.links.organization.id}}';
    await app.put('/AccessPolicy/of-ward', { engine: 'allow', roleName: 'ward', criteria });
    const holder = await login(app, 'holder', { policies: [] });
    const user = { resourceType: 'User', id: 'holder' };
    const id = await newDestination(boss, { principal: user });
    await app.put('/Patient/ward-p', { managingOrganization: { reference: 'Organization/ward' } });
    const receives = async (name: string): Promise<boolean> => {
      const before = await eventCount(id);
      await observe(name, 'ward-p');
      const isReceived = (await eventCount(id)) > before;
      const { status } = await app.get(`/Observation/${name}`, { authorization: holder.bearer });
      expect([name, status === 200]).toEqual([name, isReceived]);
      return isReceived;
    };
    expect(await receives('j1')).toBe(false);
    await app.put('/Role/of-ward', { name: 'ward', user, ...organization('ward') });
    expect(await receives('j2')).toBe(true);
    await app.put('/Role/of-ward', { name: 'ward', user, ...organization('elsewhere') });
    expect(await receives('j3')).toBe(false);
    await app.put('/Role/of-ward', { name: 'clerk', user, ...organization('ward') });
    expect(await receives('j4')).toBe(false);
  });

  it('a caller cannot name a principal over whom he has no rights', async () => {
    const principal = { resourceType: 'User', id: 'boss' };
    expect((await store('stolen', nurse, { principal })).status).toBe(403);
    expect((await store('own', nurse, { principal: { resourceType: 'User', id: 'nurse' } })).status).toBe(201);
    expect((await store('bad', boss, { principal: 7 })).status).toBe(422);
  });

  it('a caller cannot name a principal whose password he may not set', async () => {
    const policies = [
      { engine: 'matcho', matcho: { params: { 'resource/type': 'SvcTopicDestination' } } },
      {
        engine: 'matcho',
        matcho: { params: { 'resource/type': 'User' }, resource: { $not: { password: 'present?' } } },
      },
    ];
    const clerk = await login(app, 'clerk', { policies });
    const principal = { resourceType: 'User', id: 'boss' };
    expect((await store('by-clerk', clerk, { principal })).status).toBe(403);
    const id = await newDestination(boss);
    await observe('i1', 'canary-p');
    expect((await store(id, clerk, { content: 'empty' })).status).toBe(200);
    await observe('i2', 'canary-p');
    expect(await eventCount(id)).toBe(0);
  });

  it('a caller who changes a destination without rights over its principal becomes the principal', async () => {
    const id = await newDestination(boss);
    expect((await store(id, undefined, { content: 'id-only' })).status).toBe(200);
    await observe('f1', 'canary-p');
    expect(await eventCount(id)).toBe(1); // root may update the User `boss`, so the destination keeps the rights of `boss`
    expect((await store(id, boss, { content: 'id-only' })).text).toContain('"versionId":"2"');
    expect((await store(id, nurse, { content: 'empty' })).status).toBe(200);
    await observe('f2', 'canary-p');
    expect(await eventCount(id)).toBe(0); // and the event of f1 is dropped
    await observe('f3', 'own-p');
    expect(await eventCount(id)).toBe(1);
  });

  it('a change of the principal records no denial', async () => {
    const denials = async (): Promise<string> => (await app.get('/auth/decisions')).text;
    const id = await newDestination(boss);
    const before = await denials();
    expect((await store(id, nurse, { content: 'empty' })).status).toBe(200);
    expect(await denials()).toBe(before);
  });

  it('a new principal receives no events that were stored for the former one', async () => {
    const named = { principal: { resourceType: 'User', id: 'nurse' } };
    for (const more of [{}, named]) {
      const id = await newDestination(boss);
      await observe(`g-${id}`, 'canary-p');
      expect(await eventCount(id)).toBe(1);
      expect((await store(id, nurse, more)).status).toBe(200);
      expect(await eventCount(id)).toBe(0);
    }
  });

  it('events of a destination without a principal are kept only for a caller with unlimited rights', async () => {
    const id = await newDestination(undefined);
    const client = await app.connect();
    const asMadeByServer = (): Promise<unknown> =>
      client.query(
        `update destination_runtime set presentation = presentation::jsonb - 'principal' where destination_id = $1`,
        [id],
      );
    await asMadeByServer();
    await observe('h1', 'canary-p');
    expect((await store(id, boss, { content: 'id-only' })).status).toBe(200);
    expect(await eventCount(id)).toBe(1);
    await asMadeByServer();
    expect((await store(id, nurse, { content: 'empty' })).status).toBe(200);
    expect(await eventCount(id)).toBe(0);
    await client.end();
  });
});
