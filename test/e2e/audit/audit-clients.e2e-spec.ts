import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { destination, newDestination, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { login } from '../../../testing/world';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const OWN = { system: 'urn:svc:audit', code: 'server' };
const TAG = 'urn:svc:audit|server';
const DCM = 'http://dicom.nema.org/resources/ontology/DCM';

/** An event as an application sends it by IHE ATNA and BALP. */
const event = (more: object = {}): object => ({
  resourceType: 'AuditEvent',
  type: { system: DCM, code: '110110', display: 'Patient Record' },
  action: 'R',
  recorded: '2026-03-01T10:00:00Z',
  outcome: '0',
  agent: [{ who: { identifier: { value: 'viewer' } }, requestor: true }],
  source: { observer: { display: 'viewer.example' } },
  entity: [{ what: { reference: 'Patient/p1' } }],
  ...more,
});

interface AuditEvent {
  readonly id: string;
  readonly meta: { readonly security?: readonly { readonly system: string; readonly code: string }[] };
  readonly type: { readonly code: string };
}
interface Outcome {
  readonly issue: readonly {
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

describe('C7: AuditEvents that clients create', () => {
  let app: TestApp;
  let stored: AuditEvent;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'all' } });
    stored = (await app.post('/fhir/AuditEvent', event())).json<AuditEvent>();
  });
  afterAll(() => app.close());

  const totalOf = async (query: string): Promise<number> =>
    (await app.get(`/fhir/AuditEvent?_summary=count&${query}`)).json<{ total: number }>().total;

  it.each(['/fhir', ''])('C7: can be created on "%s", and are found with those of the server', async (root) => {
    const answer = await app.post(`${root}/AuditEvent`, event({ id: `by-${root === '' ? 'root' : 'fhir'}` }));
    expect(answer.status).toBe(201);
    expect(await totalOf(`_id=${answer.json<AuditEvent>().id}&patient=Patient/p1`)).toBe(1);
    expect((await app.post(`${root}/AuditEvent`, event({ outcome: 'fine' }))).status).toBe(422);
  });

  it('C7: can be created conditionally', async () => {
    const headers = { 'If-None-Exist': 'entity:identifier=order-1' };
    const body = event({ entity: [{ what: { identifier: { value: 'order-1' } } }] });
    const answers = [
      await app.post('/fhir/AuditEvent', body, { headers }),
      await app.post('/fhir/AuditEvent', body, { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200]);
  });

  it.each(['transaction', 'batch'])('C7: can be created in a %s', async (type) => {
    const entry = [{ resource: event(), request: { method: 'POST', url: 'AuditEvent' } }];
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type, entry });
    expect(answer.json()).toMatchObject({ entry: [{ response: { status: '201 Created' } }] });
  });

  const changes: readonly (readonly [string, string, string, object | undefined])[] = [
    ['update', 'PUT', 'AuditEvent/{id}', event()],
    ['update of an unknown id', 'PUT', 'AuditEvent/never', event({ id: 'never' })],
    ['conditional update', 'PUT', 'AuditEvent?_id={id}', event()],
    ['patch', 'PATCH', 'AuditEvent/{id}', { resourceType: 'Parameters' }],
    ['conditional patch', 'PATCH', 'AuditEvent?_id={id}', { resourceType: 'Parameters' }],
    ['delete', 'DELETE', 'AuditEvent/{id}', undefined],
    ['conditional delete', 'DELETE', 'AuditEvent?_id={id}', undefined],
  ];

  it.each(changes)(
    'C7: cannot be changed or deleted: %s is 405 and says what to do, also in Bundles',
    async (_, method, template, resource) => {
      const url = template.replace('{id}', stored.id);
      const answer = await app.send(method, `/fhir/${url}`, {
        ...(resource === undefined ? {} : { body: resource }),
        headers: { 'Content-Type': 'application/fhir+json' },
      });
      expect([answer.status, answer.headers.get('allow')]).toEqual([
        405,
        url.includes('?') ? 'GET, HEAD, POST' : 'GET, HEAD',
      ]);
      expect(answer.json<Outcome>().issue[0]?.diagnostics).toMatch(/never changed or deleted.*POST \/AuditEvent/);
      for (const type of ['transaction', 'batch']) {
        const entry = [{ request: { method, url }, ...(resource === undefined ? {} : { resource }) }];
        const bundled = await app.post('/fhir', { resourceType: 'Bundle', type, entry });
        expect(type === 'transaction' ? bundled.status : bundled.text).toEqual(
          type === 'transaction' ? 405 : expect.stringContaining('405 Method Not Allowed'),
        );
      }
      expect((await app.get(`/fhir/AuditEvent/${stored.id}`)).json()).toEqual(stored);
    },
  );

  describe('C7: the security tag of the server', () => {
    it('is on each record that the server creates, and on no other', async () => {
      const [own, all] = [await totalOf(`_security=${TAG}`), await totalOf('')];
      expect(own).toBeGreaterThan(0);
      expect(all).toBeGreaterThan(own);
      const { meta } = (await app.get(`/fhir/AuditEvent/${stored.id}`)).json<AuditEvent>();
      expect(meta.security).toBeUndefined();
      const others = (await app.get(`/fhir/AuditEvent?_count=1000&_security:not=${TAG}`)).json<{
        entry: readonly { readonly resource: AuditEvent }[];
      }>();
      expect(new Set(others.entry.map(({ resource }) => resource.type.code))).toEqual(new Set(['110110']));
    });

    it.each([
      ['the tag itself', [OWN]],
      ['another code of its system', [{ system: OWN.system, code: 'client' }]],
      ['its system without a code', [{ system: OWN.system }]],
      ['itself after another tag', [{ system: 'http://clinic.example', code: 'x' }, OWN]],
    ])('is refused in a create: %s', async (_, security) => {
      const body = event({ meta: { security } });
      const answer = await app.post('/fhir/AuditEvent', body);
      expect([answer.status, answer.json<Outcome>().issue[0]]).toMatchObject([
        422,
        { diagnostics: expect.stringContaining('Leave the tag out'), expression: ['AuditEvent.meta.security'] },
      ]);
      const entry = [{ resource: body, request: { method: 'POST', url: 'AuditEvent' } }];
      for (const type of ['transaction', 'batch', 'collection'])
        expect((await app.post('/fhir', { resourceType: 'Bundle', type, entry })).text).toContain('Leave the tag out');
      const headers = { 'If-None-Exist': '_id=none' };
      expect((await app.post('/fhir/AuditEvent', body, { headers })).status).toBe(422);
      expect((await app.post('/fhir/AuditEvent/$validate?mode=create', body)).text).toContain('Leave the tag out');
    });

    it('does not restrict other security tags', async () => {
      const security = [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }];
      expect((await app.post('/fhir/AuditEvent', event({ meta: { security } }))).status).toBe(201);
    });
  });

  it('C7: require a policy, and are limited by the row criteria of the caller', async () => {
    const { bearer } = await login(app, 'viewer', { policies: [] });
    const send = (more: object = {}): Promise<Received> =>
      app.post('/fhir/AuditEvent', event(more), { authorization: bearer });
    expect((await send()).status).toBe(403);
    const link = [{ resourceType: 'User', id: 'viewer' }];
    await app.put('/AccessPolicy/viewer', {
      engine: 'allow',
      link,
      criteria: ['AuditEvent?patient=Patient/p1'],
    });
    expect((await send()).status).toBe(201);
    expect((await send({ entity: [{ what: { reference: 'Patient/p2' } }] })).status).toBe(403);
  });

  it('C7: are recorded as a create, and not as a use of the log', async () => {
    const before = await totalOf(`_security=${TAG}&subtype=create&type=110101`);
    const creates = await totalOf(`_security=${TAG}&subtype=create&type=rest`);
    await app.post('/fhir/AuditEvent', event());
    expect(await totalOf(`_security=${TAG}&subtype=create&type=110101`)).toBe(before);
    expect(await totalOf(`_security=${TAG}&subtype=create&type=rest`)).toBe(creates + 1);
  });

  it('C7: trigger topics, also if they record the use of another log', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      const fhirPathCriteria = "source.observer.display = 'other.example'";
      const topic = await newTopic(app, { resource: 'AuditEvent', fhirPathCriteria });
      await newDestination(app, destination(topic, {}, receiver.url));
      const sent = { source: { observer: { display: 'other.example' } }, type: { system: DCM, code: '110101' } };
      const { id } = (await app.post('/fhir/AuditEvent', event(sent))).json<AuditEvent>();
      await eventually('it is delivered', () => Promise.resolve(JSON.stringify(receiver.bodies).includes(id)));
    } finally {
      await receiver.stop();
    }
  });
});
