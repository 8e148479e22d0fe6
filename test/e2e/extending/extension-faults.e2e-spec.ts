import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { All, Controller, Get, Injectable, Module, Scope, type Type } from '@nestjs/common';
import { Metrics } from '../../../src/platform/metrics/metrics';
import { Statements } from '../../../src/platform/database/statements';
import { eventually, type Received, ROOT, startTestApp, type TestApp, world } from 'svc-health-server/testing';
import {
  Background,
  BringsMigrations,
  createServer,
  DefinesResourceType,
  DeliverBy,
  EngineOf,
  ForResourceType,
  GrantOf,
  type MetricFamily,
  MetricsFrom,
  type MetricSource,
  OnResourceChange,
  Operation,
  OperationId,
  type OperationDefinition,
  type OwnSearchParameter,
  type ResourceChange,
  type ResourceChangeListener,
  ResourceDraft,
  type ResourceRule,
  ResourceWriter,
  RpcMethod,
  ServiceError,
} from '../../../src/index';

/** The next result of the tested provider, with a type that TypeScript would refuse. */
let fault: () => unknown;
const beFaulty = <T>(): T => fault() as T;

@Injectable()
@OnResourceChange({ types: ['Basic'] })
class FaultyListener implements ResourceChangeListener {
  static last: ResourceChange | undefined;

  onChange(change: ResourceChange): Promise<void> {
    FaultyListener.last = change;
    return beFaulty();
  }
}

/** The next drafts that a listener adds to a Basic. */
let additions: unknown = [];

@Injectable()
@OnResourceChange({ types: ['Basic'] })
class FaultyAdder implements ResourceChangeListener {
  adds(): Promise<readonly ResourceDraft[]> {
    return Promise.resolve(additions as readonly ResourceDraft[]);
  }
}

@Injectable()
@ForResourceType('Flag')
class FaultyRule implements ResourceRule {
  check(): void {
    beFaulty();
  }
}

@Injectable()
@RpcMethod({ method: 'acme/faulty', description: 'Answers what no JSON can hold.' })
class FaultyMethod {
  execute(): unknown {
    return beFaulty();
  }
}

@Injectable()
@Operation({ code: 'faulty', level: 'system', methods: ['GET'], description: 'Answers what is no answer.' })
class FaultyOperation {
  execute(): Promise<never> {
    return beFaulty();
  }
}

@Injectable()
@EngineOf('acme-faulty')
class FaultyEngine {
  compile(): never {
    return beFaulty();
  }
}

@Injectable()
@GrantOf('acme-faulty')
class FaultyGrant {
  exchange(): Promise<never> {
    return beFaulty();
  }
}

const metricsOf = (source: string): Type => {
  @Injectable()
  @MetricsFrom({ source, path: '/metrics/hours' })
  class SameMetrics implements MetricSource {
    read(): readonly MetricFamily[] {
      return [{ name: 'acme_same', type: 'gauge', help: 'x', samples: [{ value: 1 }] }];
    }
  }
  return SameMetrics;
};

const metricsOfTwo = ['acme-first', 'acme-second'].map(metricsOf);

@Module({
  providers: [
    FaultyListener,
    FaultyAdder,
    FaultyRule,
    FaultyMethod,
    FaultyOperation,
    FaultyEngine,
    FaultyGrant,
    ...metricsOfTwo,
  ],
})
class FaultyModule {}

const FAULTY_GRANT = { grant_type: 'acme-faulty', client_id: 'c', client_secret: 's' };
const LIMIT = 'idle_in_transaction_session_timeout';
const READ_LIMIT = { name: 'spec-read-limit', text: `select current_setting('${LIMIT}') as limit` };
const LOWER_LIMIT = { name: 'spec-lower-limit', text: `set local ${LIMIT} = '1s'` };
const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('a fault of a module during a request', () => {
  let app: TestApp;
  let logged: string;

  beforeAll(async () => {
    app = await startTestApp({ modules: [FaultyModule], environment: { SVC_DATABASE_POOL_SIZE: '4' } });
    const note = (...parts: unknown[]): void => {
      logged += `${parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ')}\n`;
    };
    app.app.useLogger({ log: () => undefined, warn: note, error: note });
  });
  afterAll(() => app.close());
  beforeEach(() => {
    logged = '';
    fault = () => undefined;
    additions = [];
  });

  it.each<[string, () => unknown]>([
    ['rejects with an Error', () => Promise.reject(new Error('broken'))],
    [
      'throws synchronously',
      () => {
        throw new TypeError('broken');
      },
    ],
    // The thrown value is no Error.
    [
      'throws a string',
      () => {
        AbortSignal.abort('text').throwIfAborted();
      },
    ],
    [
      'throws null',
      () => {
        AbortSignal.abort(null).throwIfAborted();
      },
    ],
  ])('in a listener that %s stores nothing, and is named only in the log', async (_what, faulty) => {
    fault = faulty;
    const { status, text } = await app.put('/fhir/Basic/vetoed', { code: { text: 'x' } });
    expect([status, text.includes('Faulty')]).toEqual([500, false]);
    expect(logged).toContain('FaultyListener');
    expect((await app.get('/fhir/Basic/vetoed')).status).toBe(404);
  });

  it('in a rule that throws a string is named in the log', async () => {
    fault = () => {
      AbortSignal.abort('text').throwIfAborted();
    };
    const flag = { status: 'active', code: { text: 'x' }, subject: { reference: 'Patient/p' } };
    expect((await app.put('/fhir/Flag/f', flag)).status).toBe(500);
    expect(logged).toContain('FaultyRule of FaultyModule threw what is no Error: string');
  });

  it.each([[undefined], [{}], [[{ resourceType: 'Flag' }]]])(
    'in a listener that adds %p is named in the log',
    async (added) => {
      additions = added;
      expect((await app.put('/fhir/Basic/added-to', { code: { text: 'x' } })).status).toBe(500);
      expect(logged).toContain('FaultyAdder of FaultyModule returned a malformed value');
      expect((await app.get('/fhir/Basic/added-to')).status).toBe(404);
    },
  );

  it('in a listener that writes its own type endlessly stores nothing, and is named in the log', async () => {
    const writer = app.provider(ResourceWriter);
    let calls = 0;
    fault = async () => {
      calls++;
      await writer.create(ResourceDraft.own('Basic', { code: { text: `${calls}` } }));
    };
    expect((await app.put('/fhir/Basic/endless', { code: { text: 'x' } })).status).toBe(500);
    expect(logged).toContain('FaultyListener of FaultyModule is called by writes of listeners, 50 deep. If it writes');
    expect(calls).toBe(50);
    expect((await app.get('/fhir/Basic/endless')).status).toBe(404);
  });

  it('in a listener that writes a misspelt type stores nothing', async () => {
    const writer = app.provider(ResourceWriter);
    fault = () => writer.put(ResourceDraft.own('Observaton', { status: 'final' }), 'o');
    expect((await app.put('/fhir/Basic/misspelt', { code: { text: 'x' } })).status).toBe(500);
    expect(logged).toContain('A module writes "Observaton", which is no stored resource type.');
    expect((await app.get('/fhir/Basic/misspelt')).status).toBe(404);
  });

  it('in a listener that never returns stores nothing, is named, and releases its connection', async () => {
    const statements = app.provider(Statements);
    const limits = new Set<unknown>();
    // The server has PostgreSQL end idle transactions after 15 s. Here the transaction itself lowers that limit to 1 s.
    fault = async () => {
      limits.add((await statements.runOne<{ limit: string }>(READ_LIMIT, []))?.limit);
      await statements.run(LOWER_LIMIT, []);
      return never();
    };
    const writes = [1, 2, 3, 4, 5].map((n) => app.put(`/fhir/Basic/blocked-${n}`, { code: { text: 'x' } }));
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect([...limits]).toEqual(['15s']);
    expect(statuses).toContain(504);
    expect(statuses.filter((status) => ![503, 504].includes(status))).toEqual([]); // 503: it waited for a connection
    expect(logged).toContain('FaultyListener of FaultyModule neither ended nor sent a statement');
    fault = () => undefined;
    expect((await app.put('/fhir/Basic/after', { code: { text: 'x' } })).status).toBe(201);
    expect((await app.get('/fhir/Basic?_summary=count')).json()).toMatchObject({ total: 1 });
  });

  it('is not assumed if a listener writes more than 50 resources concurrently', async () => {
    const writer = app.provider(ResourceWriter);
    fault = async () => {
      if (FaultyListener.last?.id !== 'many') return;
      const drafts = Array.from({ length: 60 }, () => ResourceDraft.own('Basic', { code: { text: 'of many' } }));
      await Promise.all(drafts.map((draft) => writer.create(draft)));
    };
    expect((await app.put('/fhir/Basic/many', { code: { text: 'x' } })).status).toBe(201);
    fault = () => undefined;
    expect((await app.get('/fhir/Basic?_summary=count')).json<{ total: number }>().total).toBeGreaterThanOrEqual(61);
  });

  it('is not assumed if the connection is lost while a listener runs', async () => {
    fault = never;
    const database = await app.connect();
    const write = app.put('/fhir/Basic/lost', { code: { text: 'x' } });
    await eventually('its connection is ended', async () => {
      const { rowCount } = await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction' and state_change < now() - interval '0.2 s'`);
      return rowCount === 1;
    });
    const { status, text } = await write;
    expect([status, text]).toEqual([503, expect.stringContaining('The database is not available. Try again.')]);
    expect(logged).not.toContain('neither ended nor sent a statement');
    fault = () => undefined;
    expect((await app.get('/fhir/Basic/lost')).status).toBe(404);
  });

  it.each([[10n], [{ a: 10n }], [() => 1], [Symbol('x')]])(
    'in an RPC method that returns %p is named in the log',
    async (value) => {
      fault = () => value;
      const { status, text } = await app.post('/rpc', { method: 'acme/faulty', params: {} });
      expect([status, text]).toEqual([500, expect.stringContaining('Internal error')]);
      expect(logged).toContain('FaultyMethod of FaultyModule returned what JSON cannot hold');
    },
  );

  it.each([[undefined], [{}], [{ status: 9999 }], [{ status: 200, text: 5 }], [{ status: 200, produce: '' }], ['x']])(
    'in an operation that returns %p is named in the log',
    async (value) => {
      fault = () => Promise.resolve(value);
      expect((await app.get('/$faulty')).status).toBe(500);
      expect(logged).toContain('FaultyOperation of FaultyModule returned a malformed value');
    },
  );

  it('in operations that never return blocks no others after their clients disconnected', async () => {
    fault = never;
    const calls = Array.from({ length: 40 }, () =>
      fetch(`${app.url}/$faulty`, { headers: { Authorization: ROOT }, signal: AbortSignal.timeout(200) }),
    );
    await Promise.allSettled(calls);
    expect((await app.get('/fhir/Patient')).status).toBe(200);
    expect((await app.put('/fhir/Patient/p', { resourceType: 'Patient', id: 'p' })).status).toBe(201);
  });

  it.each([[undefined], [{}], [{ access_token: 1 }]])(
    'in a grant that issues %p is named in the log',
    async (value) => {
      fault = () => Promise.resolve(value);
      await app.put('/Client/c', { secret: 's', grant_types: ['acme-faulty'] });
      expect((await app.post('/auth/token', FAULTY_GRANT, { authorization: null })).status).toBe(500);
      expect(logged).toContain('FaultyGrant of FaultyModule returned a malformed value');
    },
  );

  it.each<[string, (app: TestApp) => Promise<Received>]>([
    ['operation', (one) => one.get('/$faulty')],
    ['RPC method', (one) => one.post('/rpc', { method: 'acme/faulty', params: {} })],
    ['grant', (one) => one.post('/auth/token', FAULTY_GRANT, { authorization: null })],
  ])('in a %s that throws an operatorDetail is only in the log', async (_what, send) => {
    await app.put('/Client/c', { secret: 's', grant_types: ['acme-faulty'] });
    fault = () => {
      throw new ServiceError('conflict', 'The ward is full.', { operatorDetail: 'ward 13 is closed' });
    };
    const { text } = await send(app);
    expect([text.includes('The ward is full.'), text.includes('ward 13')]).toEqual([true, false]);
    expect(logged).toContain('ward 13 is closed');
  });

  it('in a metric with the name of another one is named in the log, and the metric is left out', async () => {
    const families = await app.provider(Metrics).read('/metrics/hours');
    expect(families.filter(({ name }) => name === 'acme_same')).toHaveLength(1);
    const up = families.find(({ name }) => name === 'svc_metrics_source_up')?.samples ?? [];
    const ofTwo = up.filter(({ labels }) => labels?.source?.startsWith('acme-') === true);
    expect(ofTwo.map(({ value }) => value)).toEqual([1, 0]);
    expect(logged).toContain('Metrics of acme-second are left out, since acme-first has acme_same too.');
  });

  it('in a policy engine that does not compile to a function stores no policy', async () => {
    expect((await app.put('/AccessPolicy/faulty', { engine: 'acme-faulty' })).status).toBe(500);
    expect(logged).toContain('FaultyEngine of FaultyModule compiled a policy to what is no function');
    expect((await app.get('/AccessPolicy/faulty')).status).toBe(404);
  });

  it('in a policy engine at a later start denies nothing to callers of other policies', async () => {
    fault = () => () => undefined;
    const { una, eve } = await world(app, {
      people: { una: { policies: [{ engine: 'acme-faulty' }] }, eve: {} },
    });
    const statuses = async (): Promise<number[]> =>
      Promise.all([una, eve].map(async ({ bearer }) => (await app.get('/Patient', { authorization: bearer })).status));
    expect(await statuses()).toEqual([200, 200]);
    const other = await startTestApp({ databaseUrl: app.databaseUrl, modules: [FaultyModule] });
    fault = () => {
      throw new TypeError('no longer');
    };
    const second = Promise.all(
      [una, eve].map(async ({ bearer }) => (await other.get('/Patient', { authorization: bearer })).status),
    );
    expect(await second.finally(() => other.close())).toEqual([403, 200]);
  });
});

describe('a fault of a module at the start', () => {
  @Injectable()
  class Absent {}

  @Injectable()
  class Needy {
    constructor(readonly absent: Absent) {}
  }

  @Module({ providers: [Needy] })
  class NeedyModule {}

  @BringsMigrations({
    prefix: 'acme_bad',
    migrations: [
      { name: 'MakeBad1795000000000', statements: ['create table acme_bad_x (id int)', 'create tabel y ()'] },
    ],
  })
  @Module({})
  class BadSqlModule {}

  const bedWith = (over: Partial<OwnSearchParameter>): ClassDecorator =>
    DefinesResourceType({
      type: 'Bed',
      searchParameters: [{ code: 'site', kind: 'token', expression: 'Bed.site', ...over }],
    });

  let healthy: TestApp;
  beforeAll(async () => {
    healthy = await startTestApp();
  });
  afterAll(() => healthy.close());

  const start = async (...modules: readonly Type[]): Promise<string> => {
    const app = await startTestApp({ databaseUrl: healthy.databaseUrl, modules }).catch((error: unknown) =>
      String(error),
    );
    if (typeof app === 'string') return app;
    await app.close();
    return 'started';
  };

  it('names a provider without its dependency', async () => {
    expect(await start(NeedyModule)).toMatch(/Needy .*Absent.*NeedyModule/s);
  });

  it('names the folder of a second copy of the package', async () => {
    const copies = runInThisContext(`globalThis[Symbol.for('svc-health-server.copies')]`) as Map<string, string>;
    const folder = '/app/node_modules/acme-plugin/node_modules/svc-health-server';
    copies.set(folder, '9.0.0');
    const refusal = await start(NeedyModule).finally(() => copies.delete(folder));
    expect(refusal).toContain(`9.0.0 in ${folder}`);
  });

  it.each<[string, ClassDecorator, object, string]>([
    [
      'rule',
      ForResourceType('Patiet'),
      { check: () => undefined },
      'names the resource type "Patiet", which is not defined. Did you mean "Patient"?',
    ],
    [
      'listener',
      OnResourceChange({ types: ['Patient', 'Wrad'] }),
      { onChange: () => Promise.resolve() },
      'names the resource type "Wrad", which is not defined. Correct it, or define the type.',
    ],
    [
      'operation',
      Operation({ resourceType: 'patient', code: 'x', level: 'type', methods: ['GET'], description: 'x' }),
      { execute: () => Promise.resolve({ status: 200 }) },
      'names the resource type "patient", which is not defined. Did you mean "Patient"?',
    ],
    [
      'type of R4',
      DefinesResourceType({
        type: 'Patient',
        searchParameters: [{ code: 'nick', kind: 'token', expression: 'Patient.name.text' }],
      }),
      {},
      ': R4 defines Patient, so it gets no shape and no searchParameters here.',
    ],
    [
      'shape',
      DefinesResourceType({ type: 'Bed', shape: { Bed: { code: '1..1 cod' } } }),
      {},
      ': the shape of Bed is wrong: "Bed.code" has the type "cod", which neither R4 nor the shape has.',
    ],
    [
      'target of a shape',
      DefinesResourceType({ type: 'Bed', shape: { Bed: { ward: '0..1 Reference(Locaton)' } } }),
      {},
      'names the resource type "Locaton", which is not defined. Did you mean "Location"?',
    ],
    [
      'native target of a shape',
      DefinesResourceType({ type: 'Bed', shape: { Bed: { by: '0..* NativeReference(User,Usr)' } } }),
      {},
      'names the resource type "Usr", which is not defined. Did you mean "User"?',
    ],
    ['target of a parameter', bedWith({ kind: 'reference', targets: ['Wrad'] }), {}, 'names the resource type "Wrad"'],
  ])('names a %s with a misspelt type', async (_what, decorator, members, expected) => {
    @Injectable()
    @decorator
    class Misspelt {}
    Object.assign(Misspelt.prototype, members);

    @Module({ providers: [Misspelt] })
    class MisspeltModule {}
    expect(await start(MisspeltModule)).toContain(
      `Misspelt of MisspeltModule${expected.startsWith(':') ? '' : ' '}${expected}`,
    );
  });

  const asAny = <T>(value: unknown): T => value as T;
  const call = { execute: () => Promise.resolve({ status: 200 }) };
  const operation = (over: Partial<OperationDefinition>): ClassDecorator =>
    Operation({ code: 'count', level: 'system', methods: ['GET'], description: 'x', ...over });

  it.each<[string, ClassDecorator, object, string]>([
    [
      'lacks the method of a call',
      RpcMethod({ method: 'acme/x', description: 'x' }),
      {},
      'it has no method "execute".',
    ],
    ['lacks the method of an operation', operation({}), {}, 'it has no method "execute".'],
    ['lacks the method of a rule', ForResourceType('Basic'), {}, 'it has no method "check".'],
    ['lacks the method of an engine', EngineOf('acme'), {}, 'it has no method "compile".'],
    ['lacks the method of a grant', GrantOf('acme'), {}, 'it has no method "exchange".'],
    ['lacks the method of a job', Background({ task: 'acme', interval: () => 0 }), {}, 'it has no method "step".'],
    ['lacks the method of metrics', MetricsFrom({ source: 'acme', path: '/metrics' }), {}, 'it has no method "read".'],
    [
      'lacks a method of a kind',
      DeliverBy({ kind: 'acme', profiles: [] }),
      { settingsOf: call.execute },
      'no method "send".',
    ],
    ['lacks the methods of a listener', OnResourceChange({ types: ['Basic'] }), {}, 'it has none of the methods'],
    [
      'listens to an empty list of types',
      OnResourceChange({ types: [] }),
      { onChange: call.execute },
      'its list of types is empty',
    ],
    ['has no name', EngineOf(''), { compile: call.execute }, 'its decorator gives it no name.'],
    ['has a code with $', operation({ code: '$count' }), call, 'the code "$count" must begin with a letter'],
    ['has a code with /', operation({ code: 'a/b' }), call, 'the code "a/b" must begin with a letter'],
    ['has no HTTP method', operation({ methods: [] }), call, '$count has no methods. Name GET, POST or both.'],
    ['has a level without its type', operation({ level: 'type' }), call, 'has the level "type" and no resourceType.'],
    ['has a type at level system', operation({ resourceType: 'Basic' }), call, 'and the resourceType "Basic".'],
    [
      'has the id of a route',
      operation({ code: 'read' }),
      call,
      '$read has the id FhirRead, which is that of a route.',
    ],
    [
      'has the id of another operation',
      operation({ code: 'Version' }),
      call,
      'FhirVersion, which is that of $version.',
    ],
    ['has a type in lower case', DefinesResourceType({ type: 'bed' }), {}, 'the type "bed" must be a capital letter'],
    ['has the type of a path', DefinesResourceType({ type: 'Bed/x' }), {}, 'the type "Bed/x" must be a capital letter'],
    ['has a data type', DefinesResourceType({ type: 'HumanName' }), {}, 'the type "HumanName" needs another name'],
    ['has the type of links', DefinesResourceType({ type: 'Operation' }), {}, '"Operation" needs another name'],
    ['has a reserved code', bedWith({ code: '_id' }), {}, 'the search parameter Bed._id cannot be used: its code'],
    ['has a code with a dot', bedWith({ code: 'a.b' }), {}, 'the search parameter Bed.a.b cannot be used: its code'],
    [
      'has a path that its shape lacks',
      DefinesResourceType({
        type: 'Bed',
        shape: { Bed: { site: '0..1 code' } },
        searchParameters: [{ code: 'site', kind: 'token', expression: 'Bed.sites' }],
      }),
      {},
      'the search parameter Bed.site cannot be used: line 1, column 5: Bed has no element "sites"; do you mean "site"?',
    ],
    [
      'has a search parameter of a kind that does not index its element',
      DefinesResourceType({
        type: 'Bed',
        shape: { Bed: { site: '0..1 code', more: '0..1 Any', by: '0..1 NativeReference(User)' } },
        searchParameters: [
          { code: 'more', kind: 'date', expression: 'Bed.more' },
          { code: 'by', kind: 'reference', expression: 'Bed.by', targets: ['User'] },
          { code: 'site', kind: 'date', expression: 'Bed.site' },
        ],
      }),
      {},
      'the search parameter Bed.site cannot be used: it leads to code, which a parameter of type date does not index',
    ],
    ['has targets of a token', bedWith({ targets: ['Basic'] }), {}, 'it has targets, but its kind is not "reference"'],
    [
      'misspells an option',
      OnResourceChange(asAny({ type: ['Basic'] })),
      call,
      '"type" is unknown. Rename it to "types".',
    ],
    ['has an unknown option', EngineOf(asAny({ name: 'acme' })), { compile: call.execute }, 'gives it no name'],
    [
      'has a far option',
      MetricsFrom(asAny({ source: 'acme', path: '/metrics', quickly: true })),
      call,
      '"quickly" is unknown. Known are source, path, of.',
    ],
    [
      'has a text for a list',
      OnResourceChange(asAny({ types: 'Basic' })),
      call,
      '"types" must be an array, but is a text.',
    ],
    [
      'has no code of a parameter',
      bedWith(asAny({ code: undefined })),
      {},
      '"searchParameters[0].code" must be a text, but is missing.',
    ],
    [
      'misspells a member of a parameter',
      bedWith(asAny({ target: ['Basic'] })),
      {},
      '"searchParameters[0].target" is unknown. Rename it to "targets".',
    ],
    [
      'has another kind of parameter',
      bedWith(asAny({ kind: 'code' })),
      {},
      'must be one of token, reference, date, uri, string, number, quantity, but is a text.',
    ],
    ['lacks methods', operation(asAny({ methods: undefined })), call, '"methods" must be an array, but is missing.'],
    ['has an unknown method', operation(asAny({ methods: ['PUT'] })), call, '"methods[0]" must be one of GET, POST'],
    [
      'has parameters in an object',
      operation(asAny({ parameters: {} })),
      call,
      '"parameters" must be an array, but is an object.',
    ],
    [
      'has an instance as params',
      RpcMethod({ method: 'acme/x', description: 'x', params: asAny({ x: 1 }) }),
      call,
      '"params" must be a class, but is an object.',
    ],
    [
      'has an interval in a number',
      Background(asAny({ task: 'acme', interval: 5 })),
      call,
      '"interval" must be a function',
    ],
    [
      'has profiles in a text',
      DeliverBy(asAny({ kind: 'acme', profiles: 'x' })),
      call,
      '"profiles" must be an array, but is a text.',
    ],
    [
      'has a lock of the server',
      Background({ task: 'acme', interval: () => 0, lock: 4_713_590 }),
      { step: call.execute },
      'its lock 4713590 is not for modules. Use a whole number from 1 to 999,999 that no other task has.',
    ],
    [
      'has a lock of a fraction',
      Background({ task: 'acme', interval: () => 0, lock: 1.5 }),
      {},
      'its lock 1.5 is not for',
    ],
  ])('names a class that %s', async (_what, decorator, members, expected) => {
    @Injectable()
    @decorator
    class Wrong {}
    Object.assign(Wrong.prototype, members);

    @Module({ providers: [Wrong] })
    class WrongModule {}
    const refusal = await start(WrongModule);
    expect(refusal).toContain('StartError: Wrong of WrongModule: ');
    expect(refusal).toContain(expected);
  });

  it('names a task with the lock of another task', async () => {
    const locked = (task: string): Type => {
      @Injectable()
      @Background({ task, interval: () => 0, lock: 7 })
      class Locked {
        step(): Promise<undefined> {
          return Promise.resolve(undefined);
        }
      }
      return Locked;
    };

    @Module({ providers: [locked('acme-one'), locked('acme-two')] })
    class LockedModule {}
    expect(await start(LockedModule)).toContain(
      'Locked of LockedModule: its lock 7 is that of the task "acme-one". Use a whole number from 1 to 999,999',
    );
  });

  class CreateNights1795000000000 {
    readonly name = 'CreateNights1795000000000';
  }

  it.each<[string, unknown, string]>([
    [
      'its migrations in an object',
      { prefix: 'acme_x', migrations: {} },
      '"migrations" must be an array, but is an object',
    ],
    ['no migrations', { prefix: 'acme_x' }, '"migrations" must be an array, but is missing'],
    [
      'a class of TypeORM as a migration',
      { prefix: 'acme_x', migrations: [CreateNights1795000000000] },
      '"migrations[0]" must be an object, but is a class',
    ],
    [
      'statements in a text',
      { prefix: 'acme_x', migrations: [{ name: 'X1795000000000', statements: 'select 1' }] },
      '"migrations[0].statements" must be an array, but is a text',
    ],
    ['no prefix', { migrations: [] }, '"prefix" must be a text, but is missing'],
  ])('names a module that brings %s', async (_what, definition, expected) => {
    @BringsMigrations(asAny(definition))
    @Module({})
    class TablesModule {}
    expect(await start(TablesModule)).toContain(`@BringsMigrations of TablesModule: ${expected}.`);
  });

  it('names a module whose lists are no arrays', async () => {
    @Module(asAny({ providers: Absent }))
    class ListModule {}

    @Module({ imports: [ListModule] })
    class OuterModule {}
    expect(await start(OuterModule)).toContain('@Module of ListModule: "providers" must be an array, but is a class.');
  });

  it('names a member of `modules` that is no module', async () => {
    const module = 'a class or a dynamic module';
    for (const [options, expected] of [
      [{ module: [NeedyModule] }, '"module" is unknown. Rename it to "modules"'],
      [{ modules: NeedyModule }, '"modules" must be an array, but is a class'],
      [{ modules: [new NeedyModule()] }, `"modules[0]" must be ${module}, but is an object`],
      [{ modules: [undefined] }, `"modules[0]" must be ${module}, but is missing`],
    ] as const) {
      expect(() => createServer(asAny(options))).toThrow(`createServer: ${expected}.`);
      await expect(startTestApp(asAny(options))).rejects.toThrow(`startTestApp: ${expected}.`);
    }
    const people = { una: { policy: [] } };
    await expect(world(healthy, asAny<Parameters<typeof world<'una'>>[1]>({ people }))).rejects.toThrow(
      '"policy" is unknown. Known are policies.',
    );
  });

  it('names a handler with request scope', async () => {
    @Injectable({ scope: Scope.REQUEST })
    @EngineOf('acme')
    class Anew {
      compile(): void {
        beFaulty();
      }
    }

    @Module({ providers: [Anew] })
    class AnewModule {}
    expect(await start(AnewModule)).toContain('Anew of AnewModule: it has the scope of a request');
  });

  it.each([
    ['Bed.', 'the expression ends too early'],
    ['Ward.site', 'it names nothing of Bed'],
  ])('names a search parameter with the expression %s', async (expression, reason) => {
    @Injectable()
    @DefinesResourceType({ type: 'Bed', searchParameters: [{ code: 'site', kind: 'token', expression }] })
    class BedType {}

    @Module({ providers: [BedType] })
    class BedModule {}
    const refusal = await start(BedModule);
    expect(refusal).toContain('BedType of BedModule: the search parameter Bed.site cannot be used: ');
    expect(refusal).toContain(reason);
  });

  const routed = (path: string, operationId = path): Type => {
    @Controller(path)
    class Routed {
      @Get()
      @OperationId(operationId)
      get(): string {
        return path;
      }
    }

    @Module({ controllers: [Routed] })
    class RoutedModule {}
    return RoutedModule;
  };

  it('names a route that would hide routes of the server, or never run', async () => {
    const resources = ['Patient', 'fhir/Patient', 'fhir/:type', ':a/:b', '*path', '', 'fhir', '$acme', '_history'];
    const others = [
      'fhir/metadata',
      'rpc/acme',
      'auth/acme',
      '.well-known/acme',
      'api',
      'console/acme',
      'docs',
      'health',
    ];
    for (const path of [...resources, ...others]) {
      expect(await start(routed(path))).toContain(
        `StartError: Routed of RoutedModule: the path "${path}" is that of the server or of resource types.`,
      );
    }
  });

  it('names a route that another module has too', async () => {
    @Controller('acme')
    class Other {
      @All('beds/:name')
      all(): string {
        return 'other';
      }
    }

    @Module({ controllers: [Other] })
    class OtherModule {}
    expect(await start(OtherModule, routed('acme/beds/:id'))).toContain(
      'Routed of RoutedModule: the route GET /acme/beds/:id is also that of Other of OtherModule. Rename one of both.',
    );
    expect(await start(OtherModule, routed('acme/beds'), routed('fhir/acme'))).toBe('started');
  });

  it('names a route with the id of another route', async () => {
    expect(await start(routed('acme/a', 'FhirRead'))).toContain(
      'Routed of RoutedModule: the id "FhirRead" of a route is also that of a route of ResourceController of',
    );
    expect(await start(routed('acme/a', 'Acme'), routed('acme/b', 'Acme'))).toContain('the id "Acme" of a route');
  });

  it('names a second rule of a type, and the alternatives', async () => {
    @Injectable()
    @ForResourceType('User')
    class Second {
      check(): void {
        beFaulty();
      }
    }

    @Module({ providers: [Second] })
    class SecondModule {}
    expect(await start(SecondModule)).toMatch(
      /"User" is registered twice, by Second of SecondModule and by UserRule of AuthModule\. A type has one rule: /,
    );
  });

  it('names a migration that fails', async () => {
    expect(await start(BadSqlModule)).toContain(
      'The migration MakeBad1795000000000 of the module with the prefix "acme_bad" failed, and nothing of it is kept',
    );
  });
});
