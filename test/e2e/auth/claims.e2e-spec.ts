import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson } from '../../../src/platform/json/read-json';
import { ResourceDraft } from '../../../src/model/resource-draft';
import { ResourceWriter } from '../../../src/resource/resource-writer';
import { login } from '../../../testing/world';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { storeTogether } from '../../support/bundle';

interface RestResource {
  readonly type: string;
  readonly interaction: readonly { readonly code: string }[];
  readonly updateCreate: boolean;
  readonly conditionalCreate: boolean;
  readonly conditionalUpdate: boolean;
  readonly conditionalDelete: string;
  readonly operation?: readonly { readonly name: string; readonly definition: string }[];
}
interface Rest {
  readonly resource: readonly RestResource[];
  readonly operation?: RestResource['operation'];
}
interface Outcome {
  readonly issue: readonly { readonly diagnostics: string; readonly expression?: readonly string[] }[];
}

const MERGE = { 'Content-Type': 'application/merge-patch+json' };
const SUBSCRIPTION = {
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'x',
  criteria: 'Observation?code=x',
  channel: { type: 'rest-hook', endpoint: 'http://clinic.example/hook', payload: 'application/fhir+json' },
};
const POINTER = /SvcSubscriptionTopic.*SvcTopicDestination/;

describe('the claims of /metadata and of the OpenAPI document', () => {
  let app: TestApp;
  let rest: Rest;

  beforeAll(async () => {
    app = await startTestApp();
    const statement = (await app.get('/metadata')).json<{ rest: readonly [Rest] }>();
    rest = statement.rest[0];
  });
  afterAll(() => app.close());

  const resourceOf = (type: string): RestResource => {
    const found = rest.resource.find((one) => one.type === type);
    if (found === undefined) throw new Error(`/metadata does not name ${type}`);
    return found;
  };
  const codesOf = (type: string): string[] => resourceOf(type).interaction.map(({ code }) => code);

  describe('C12.6: the interactions that /metadata claims match the responses for', () => {
    /** Bodies that satisfy the rules of their types. */
    const bodies: Readonly<Record<string, object>> = {
      AccessPolicy: { engine: 'allow', link: [{ resourceType: 'User', id: 'nobody' }] },
      Client: { grant_types: ['basic'] },
      Role: { name: 'claims', user: { resourceType: 'User', id: 'nobody' } },
      User: { userName: 'claims' },
      SDCDocument: { status: 'draft' },
      SDCWorkflow: { status: 'draft' },
      SDCAddendum: { type: 'x' },
      Session: { active: true, user: { resourceType: 'User', id: 'nobody' } },
      Patient: {},
      AuditEvent: {
        type: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110100' },
        recorded: '2026-01-01T00:00:00Z',
        agent: [{ requestor: true }],
        source: { observer: { display: 'x' } },
      },
      Subscription: SUBSCRIPTION,
    };

    it.each(Object.keys(bodies))('%s', async (type) => {
      const { updateCreate, conditionalCreate, conditionalUpdate, conditionalDelete } = resourceOf(type);
      const body = bodies[type] ?? {};
      const isDone = ({ status }: Received): boolean => status < 300;
      const created = await app.post(`/fhir/${type}`, body);
      const stored = isDone(created) ? created.json<{ id: string }>().id : await storedIdOf(type);
      // The name of the first resource is already in use.
      const free = { ...body, ...('userName' in body ? { userName: 'claims-2' } : {}) };
      const put = await app.put(`/fhir/${type}/claims-new`, free);
      const withStored = JSON.parse((await app.get(`/fhir/${type}/${stored}`)).text) as object;
      const updated = await app.put(`/fhir/${type}/${stored}`, withStored);
      const patched = await app.send('PATCH', `/fhir/${type}/${stored}`, { body: {}, headers: MERGE });
      const found = `/fhir/${type}?_id=${stored}`;
      const ifNone = await app.post(`/fhir/${type}`, body, { headers: { 'If-None-Exist': `_id=${stored}` } });
      const putByCriteria = await app.put(found, withStored);
      const patchedByCriteria = await app.send('PATCH', found, { body: {}, headers: MERGE });
      const deletedByCriteria = await app.delete(`/fhir/${type}?_id=never`);
      const deleted = await app.delete(`/fhir/${type}/${stored}`);
      expect({
        create: isDone(created),
        update: isDone(updated),
        patch: isDone(patched) && isDone(patchedByCriteria),
        delete: isDone(deleted),
        updateCreate: isDone(put),
        conditionalCreate: isDone(ifNone),
        conditionalUpdate: isDone(putByCriteria) && isDone(created),
        conditionalDelete: isDone(deletedByCriteria) ? 'single' : 'not-supported',
      }).toEqual({
        ...Object.fromEntries(
          ['create', 'update', 'patch', 'delete'].map((code) => [code, codesOf(type).includes(code)]),
        ),
        updateCreate,
        conditionalCreate,
        conditionalUpdate,
        conditionalDelete,
      });
    });

    async function storedIdOf(type: string): Promise<string> {
      if (type === 'Session') await login(app, 'claims-session');
      if (type === 'Subscription') await store('claims-old');
      const { entry } = (await app.get(`/fhir/${type}?_count=1&_sort=-_lastUpdated`)).json<{
        entry?: readonly { readonly resource: { readonly id: string } }[];
      }>();
      return entry?.[0]?.resource.id ?? 'none';
    }
  });

  it('C12.6: the refusal of POST /Session names POST /auth/token', async () => {
    const refused = await app.post('/Session', { active: true });
    expect([refused.status, refused.json<Outcome>().issue[0]?.diagnostics]).toEqual([
      422,
      expect.stringContaining('POST /auth/token'),
    ]);
  });

  it('C12.7: the definition of each operation is an HL7 URL, or a urn', () => {
    const named = [...rest.resource, rest].flatMap(({ operation = [] }) => operation);
    expect(new Set(named.map(({ name }) => name)).size).toBeGreaterThan(8);
    for (const { definition } of named) expect(definition).toMatch(/^(http:\/\/hl7\.org\/fhir\/|urn:svc:operation:)/);
    const definitionOf = (type: string, name: string): string | undefined =>
      resourceOf(type).operation?.find((one) => one.name === name)?.definition;
    expect(definitionOf('Patient', 'everything')).toBe('http://hl7.org/fhir/OperationDefinition/Patient-everything');
    expect(definitionOf('Patient', 'validate')).toBe('http://hl7.org/fhir/OperationDefinition/Resource-validate');
    expect(definitionOf('SvcTopicDestination', 'status')).toBe('urn:svc:operation:SvcTopicDestination-status');
  });

  it.each(['/fhir/$validate', '/fhir/{type}/$validate', '/fhir/{type}/{id}/$validate'])(
    'C12.14: POST %s has a body in the OpenAPI document',
    async (path) => {
      const { paths } = (await app.get('/api-json')).json<{
        paths: Record<string, { post: { requestBody?: { content: Record<string, unknown> } }; get?: object }>;
      }>();
      expect(Object.keys(paths[path]?.post.requestBody?.content ?? {})).toContain('application/fhir+json');
      expect(paths[path]?.get ?? {}).not.toHaveProperty('requestBody');
    },
  );

  const store = (id: string): Promise<unknown> =>
    app.app
      .get(ResourceWriter, { strict: false })
      .put(ResourceDraft.of(readJson(JSON.stringify(SUBSCRIPTION)), 'Subscription', id), id);

  describe('C6: Subscription of R4', () => {
    const bundled = (method: string, url: string, resource?: object): object => ({
      request: { method, url },
      ...(resource === undefined ? {} : { resource }),
    });
    const parameters = { resourceType: 'Parameters', parameter: [] };

    it.each<[string, string, string, object?, Record<string, string>?]>([
      ['create', 'POST', '/fhir/Subscription', SUBSCRIPTION],
      ['create on the other root', 'POST', '/Subscription', SUBSCRIPTION],
      ['create of an invalid resource', 'POST', '/fhir/Subscription', {}],
      ['conditional create', 'POST', '/fhir/Subscription', SUBSCRIPTION, { 'If-None-Exist': '_id=none' }],
      ['conditional create with a match', 'POST', '/fhir/Subscription', SUBSCRIPTION, { 'If-None-Exist': '_id=old' }],
      ['update', 'PUT', '/fhir/Subscription/old', { ...SUBSCRIPTION, id: 'old' }],
      ['update of an unknown id', 'PUT', '/fhir/Subscription/new', { ...SUBSCRIPTION, id: 'new' }],
      ['conditional update', 'PUT', '/fhir/Subscription?_id=old', SUBSCRIPTION],
      ['patch', 'PATCH', '/fhir/Subscription/old', { reason: 'y' }, MERGE],
      ['conditional patch', 'PATCH', '/fhir/Subscription?_id=old', { reason: 'y' }, MERGE],
    ])(
      '%s is 422 and names SvcSubscriptionTopic and SvcTopicDestination',
      async (_, method, path, body = {}, headers = {}) => {
        await store('old');
        const answer = await app.send(method, path, { body, headers });
        expect([answer.status, answer.json<Outcome>().issue[0]?.diagnostics]).toEqual([
          422,
          expect.stringMatching(POINTER),
        ]);
      },
    );

    it.each(['transaction', 'batch'])('is refused in a %s', async (type) => {
      await store('old');
      const entry = [
        bundled('POST', 'Subscription', SUBSCRIPTION),
        bundled('PUT', 'Subscription/old', { ...SUBSCRIPTION, id: 'old' }),
        bundled('PUT', 'Subscription?_id=old', SUBSCRIPTION),
        bundled('PATCH', 'Subscription/old', parameters),
      ];
      const answer = await app.post('/fhir', { resourceType: 'Bundle', type, entry });
      const issues =
        type === 'transaction'
          ? answer.json<Outcome>().issue
          : answer
              .json<{ entry: { response: { status: string; outcome: Outcome } }[] }>()
              .entry.flatMap(({ response }) => response.outcome.issue);
      expect(issues.map(({ diagnostics }) => POINTER.test(diagnostics))).toEqual([true, true, true, true]);
    });

    it('stored by an older release can be read, searched and deleted', async () => {
      await store('older');
      expect((await app.get('/fhir/Subscription/older')).json()).toMatchObject({ reason: 'x' });
      expect((await app.get('/fhir/Subscription?_id=older')).json()).toMatchObject({ total: 1 });
      expect((await app.get('/fhir/Subscription/older/_history')).json()).toMatchObject({ total: 1 });
      const entry = [bundled('GET', 'Subscription/older'), bundled('DELETE', 'Subscription?_id=never')];
      await storeTogether(app, entry);
      expect((await app.delete('/fhir/Subscription/older')).status).toBe(200);
      expect((await app.get('/fhir/Subscription/older')).status).toBe(410);
    });
  });
});
