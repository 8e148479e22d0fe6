import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { createHandOvers } from '../../examples/ward/src/create-hand-overs.migration';
import { digestOf, type Migration } from '../../src/platform/database/migration';
import { migrate } from '../../src/platform/database/schema/migrate';
import { MetricsServer } from '../../src/platform/metrics/metrics-server';
import { RpcMethod } from '../../src/rpc/rpc-method';
import { RpcRegistry } from '../../src/rpc/rpc.registry';
import { eventually } from '../support/eventually';
import { WardModule } from '../../examples/ward/src/ward.module';
import { login } from '../support/people';
import { type TestApp, basicHeader, startTestApp } from '../support/test-app';
import { type NotificationBody } from '../support/webhook-receiver';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({
    environment: { SVC_ADDENDUM_TYPES: 'examples/ward/src/addendum-types.json', SVC_METRICS_PORT: '0' },
    extensions: [WardModule],
  });
  await app.put('/fhir/Ward/w1', { site: 'north', beds: 12, head: { resourceType: 'Practitioner', id: 'dr-1' } });
  await app.put('/fhir/SDCDocument/vitals-1', '{"status":"in-progress","ward":"1A","score":1.10}');
});
afterAll(() => app.close());

const call = (method: string, params: object): Promise<{ status: number; text: string }> =>
  app.post('/rpc', { method, params });

describe('a module of another team (docs/extending.md)', () => {
  it('brings a resource type with search parameters', async () => {
    const found = async (query: string): Promise<unknown> =>
      (await app.get(`/fhir/Ward?${query}`)).json<{ total: number }>().total;
    expect(await found('site=north')).toBe(1);
    expect(await found('site=south')).toBe(0);
    expect(await found('head=Practitioner/dr-1')).toBe(1);
  });

  it('shows its type and its operation in the CapabilityStatement', async () => {
    const { rest } = (await app.get('/metadata')).json<{
      rest: { resource: { type: string; operation: object[] }[] }[];
    }>();
    const ward = rest[0]?.resource.find(({ type }) => type === 'Ward');
    expect(ward?.operation).toContainEqual(expect.objectContaining({ name: 'census' }));
  });

  it('refuses by its rule', async () => {
    const { status, text } = await app.put('/fhir/Ward/w2', { beds: -1 });
    expect({ status, text }).toEqual({ status: 422, text: expect.stringContaining('beds must be a whole number') });
  });

  it('answers its $operation', async () => {
    const answer = await app.get('/fhir/Ward/w1/$census');
    expect(answer.json()).toEqual({ resourceType: 'Parameters', parameter: [{ name: 'beds', valueInteger: 12 }] });
  });

  it('answers its RPC method and keeps the digits of what it does not change', async () => {
    const { text } = await call('acme.ward/hand-over', { documentId: 'vitals-1', ward: '4B' });
    expect(text).toContain('"ward":"4B"');
    expect(text).toContain('"score":1.10');
  });

  it('has the params of its RPC method checked', async () => {
    const { status, text } = await call('acme.ward/hand-over', { documentId: 'vitals-1' });
    expect({ status, error: JSON.parse(text) as unknown }).toEqual({
      status: 422,
      error: { error: { message: 'Invalid params', errors: [{ path: ['ward'], message: 'ward is required' }] } },
    });
  });

  it('vetoes a write by its listener', async () => {
    await app.put('/fhir/SDCDocument/signed', { status: 'completed' });
    expect((await app.delete('/fhir/SDCDocument/signed')).status).toBe(409);
    expect((await app.get('/fhir/SDCDocument/signed')).status).toBe(200);
  });

  it('decides by its policy engine', async () => {
    const { bearer } = await login(app, 'reader', { mayDoEverything: false });
    const link = [{ resourceType: 'User', id: 'reader' }];
    await app.put('/AccessPolicy/readers', { engine: 'acme-read-only', link });
    expect((await app.get('/fhir/Ward/w1', { authorization: bearer })).status).toBe(200);
    expect((await app.delete('/fhir/Ward/w1', { authorization: bearer })).status).toBe(403);
  });

  it('issues tokens by its grant', async () => {
    const { bearer } = await login(app, 'traveller');
    const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
    await app.put('/Client/kiosk', { secret: 'kiosk-secret', grant_types: [grantType] });
    const answer = await app.post(
      '/auth/token',
      { grant_type: grantType, subject_token: bearer.slice('Bearer '.length) },
      { authorization: basicHeader('kiosk', 'kiosk-secret') },
    );
    const { access_token: token } = answer.json<{ access_token: string }>();
    expect((await app.get('/fhir/Ward/w1', { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  describe('with a kind of destination', () => {
    const topic = 'http://acme.example/wards';
    const destination = (...parameter: readonly object[]): object => ({
      meta: { profile: ['http://acme.example/StructureDefinition/acme-file-drop'] },
      kind: 'acme-file-drop',
      topic,
      parameter,
    });

    it.each([
      ['without its parameter', destination()],
      ['with another one', destination({ name: 'endpoint', valueUrl: 'http://x.example' })],
      ['with one more', destination({ name: 'path', valueString: '/x' }, { name: 'mode', valueString: '0600' })],
      ['with another type of value', destination({ name: 'path', valueUrl: '/x' })],
    ])('refuses a destination %s', async (_what, body) => {
      const { status, text } = await app.post('/fhir/SvcTopicDestination', body);
      expect({ status, text }).toEqual({ status: 422, text: expect.stringContaining('has one parameter: path') });
    });

    it('delivers in order, batch by batch, and tries again until it can', async () => {
      const folder = join(await mkdtemp(join(tmpdir(), 'svc-file-drop-')), 'later');
      const path = join(folder, 'events.jsonl');
      await app.post('/fhir/SvcSubscriptionTopic', { url: topic, status: 'active', trigger: [{ resource: 'Ward' }] });
      const stored = await app.post('/fhir/SvcTopicDestination', destination({ name: 'path', valueString: path }));
      expect(stored.status).toBe(201);
      const { id } = stored.json<{ id: string }>();
      const wards = ['w3', 'w4', 'w5', 'w6', 'w7'];
      for (const [beds, ward] of wards.entries()) await app.put(`/fhir/Ward/${ward}`, { beds });
      await eventually('it failed', async () =>
        (await app.get(`/fhir/SvcTopicDestination/${id}/$status`)).text.includes('The file cannot be written'),
      );
      await mkdir(folder);
      const lines = await eventually('the events are dropped', async () => {
        const text = await readFile(path, 'utf8').catch(() => '');
        return text.includes('Ward/w7') && text.endsWith('\n') && text.trimEnd().split('\n');
      });
      const events = lines.map((line) => {
        const [{ resource }] = (JSON.parse(line) as NotificationBody).entry;
        return resource.notificationEvent.map(({ eventNumber, focus }) => `${eventNumber} ${focus.reference}`);
      });
      expect(events.flat()).toEqual(wards.map((ward, index) => `${index + 1} Ward/${ward}`));
      expect(Math.max(...events.map(({ length }) => length))).toBeLessThanOrEqual(2);
      await app.delete(`/fhir/SvcTopicDestination/${id}`);
      await rm(join(folder, '..'), { recursive: true });
    });
  });

  describe('with a kind of destination that has a secret', () => {
    it('keeps it, uses it, shows it nowhere, and shows what the receiver said', async () => {
      const heard: string[] = [];
      const pager = createServer((line) => {
        line.on('data', (page) => {
          heard.push(page.toString());
          if (heard.length === 1) line.resetAndDestroy();
          else line.end('beep');
        });
      });
      await new Promise<void>((resolve) => pager.unref().listen(0, '127.0.0.1', resolve));
      const { port } = pager.address() as AddressInfo;
      const topic = 'http://acme.example/paged';
      await app.post('/fhir/SvcSubscriptionTopic', { url: topic, status: 'active', trigger: [{ resource: 'Ward' }] });
      const pagerBy = (pin: string): object => ({
        meta: { profile: ['http://acme.example/StructureDefinition/acme-pager'] },
        kind: 'acme-pager',
        topic,
        parameter: [
          { name: 'port', valueInteger: port },
          { name: 'pin', valueString: pin },
        ],
      });
      expect((await app.put('/fhir/SvcTopicDestination/pager', pagerBy('***'))).status).toBe(422);
      const stored = await app.put('/fhir/SvcTopicDestination/pager', pagerBy('4711'));
      expect([stored.status, stored.text.includes('4711')]).toEqual([201, false]);
      await app.put('/fhir/SvcTopicDestination/pager', { ...pagerBy('***'), content: 'empty' });
      await app.put('/fhir/Ward/paged', { beds: 1 });
      const events = await eventually('it is paged', async () => {
        const { text } = await app.get('/fhir/SvcTopicDestination/pager/$events?state=delivered');
        return text.includes('The pager said beep') && text;
      });
      expect(events).toContain('The pager does not answer');
      expect([new Set(heard).size, heard[0]?.startsWith('4711 ')]).toEqual([1, true]);
      await app.delete('/fhir/SvcTopicDestination/pager');
    });
  });

  it('has metrics of its own, which count what was committed', async () => {
    const { port } = app.app.get(MetricsServer, { strict: false });
    const created = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${port ?? 0}/metrics`)).text();
      return Number(/^acme_ward_changes_total\{interaction="create"\} (\d+)$/m.exec(text)?.[1]);
    };
    const before = await created();
    await app.put('/fhir/Ward/counted', { beds: 1 });
    await app.put('/fhir/Ward/refused', { beds: -1 });
    expect((await created()) - before).toBe(1);
  });

  it('keeps rows in a table of its own, in the transaction of the resource', async () => {
    const handOvers = async (): Promise<number> =>
      (await app.get('/acme/ward-board')).json<{ handOvers: number }>().handOvers;
    const before = await handOvers();
    await app.put('/fhir/SDCDocument/vitals-2', { status: 'in-progress' });
    // Of calls that read one version only one may write it; the rows of the others are rolled back.
    const calls = ['4A', '4B', '4C', '4D'].map((ward) => call('acme.ward/hand-over', { documentId: 'vitals-2', ward }));
    const done = (await Promise.all(calls)).filter(({ status }) => status === 200).length;
    expect(done).toBeGreaterThan(0);
    expect(await handOvers()).toBe(before + done);
  });

  it('has its migrations listed under its prefix, and compared at each start', async () => {
    const client = await app.connect();
    const { rows } = await client.query(`select name, digest from schema_migration where module = 'acme_ward'`);
    await client.end();
    expect(rows).toEqual([{ name: createHandOvers.name, digest: digestOf(createHandOvers) }]);
    const changed = [{ ...createHandOvers, statements: ['create table acme_ward_hand_over (id int)'] }];
    const start = (migrations: readonly Migration[]): Promise<void> =>
      migrate(app.databaseUrl, undefined, [{ module: 'acme_ward', migrations }]);
    await expect(start(changed)).rejects.toThrow('was applied with other SQL');
    await expect(start([])).rejects.toThrow('was migrated by a newer server');
    await expect(start([createHandOvers])).resolves.toBeUndefined();
  });

  it('answers on a route of its own, under the rights of the caller', async () => {
    const board = await app.get('/acme/ward-board');
    expect(board.json<{ wards: { id: string }[] }>().wards.map(({ id }) => id)).toContain('w1');
    expect((await app.get('/acme/ward-board', { authorization: null })).status).toBe(401);
  });

  it('stores addenda of a type of its own', async () => {
    const body = await readFile('examples/ward/src/hand-over-addendum.json', 'utf8');
    const { status, text } = await app.post('/rpc', body);
    expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining('"ward":"4B"') });
    const refused = await app.post('/rpc', body.replace('"4B"', '"four"'));
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('"path":["addendum","ward"]')]);
  });
});

describe('a key that is taken', () => {
  it('stops the boot and is named', async () => {
    const providers = ['first', 'second'].map((description) => {
      @RpcMethod({ method: 'acme.ward/hand-over', description })
      class Method {}
      return { provide: description, useClass: Method };
    });
    const app = await Test.createTestingModule({
      imports: [DiscoveryModule],
      providers: [RpcRegistry, ...providers],
    }).compile();
    await expect(app.init()).rejects.toThrow('RpcRegistry: "acme.ward/hand-over" is registered twice');
  });
});
