import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { startTestApp, type TestApp } from 'svc-health-server/testing';
import { createHandOvers } from '../../../examples/ward/src/create-hand-overs.migration';
import { WardModule } from '../../../examples/ward/src/ward.module';
import { BringsMigrations, DefinesResourceType, ResourceCriteria, ResourceModule, viewOf } from '../../../src/index';
import { digestOf, type Migration } from '../../../src/platform/database/migration';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { MetricsServer } from '../../../src/platform/metrics/metrics-server';
import { RpcMethod } from '../../../src/rpc/rpc-method';
import { RpcRegistry } from '../../../src/rpc/rpc.registry';

interface Bed {
  readonly resourceType: 'Bed';
  readonly rank?: number;
}

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_METRICS_PORT: '0' }, modules: [WardModule] });
});
afterAll(() => app.close());

describe('a module (extension points: examples/ward/test)', () => {
  it('has its own metrics, which count committed changes', async () => {
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

  it('has its migrations listed under its prefix, and compared at each start', async () => {
    const client = await app.connect();
    const { rows } = await client.query(`select name, digest from schema_migration where module = 'acme_ward'`);
    await client.end();
    expect(rows).toEqual([{ name: createHandOvers.name, digest: digestOf(createHandOvers) }]);
    const changed = [{ ...createHandOvers, statements: ['create table acme_ward_hand_over (id int)'] }];
    const start = (migrations: readonly Migration[]): Promise<void> =>
      migrate(app.databaseUrl, undefined, [{ module: 'acme_ward', migrations }]);
    await expect(start(changed)).rejects.toThrow('was applied with other SQL');
    await expect(start([])).rejects.toThrow('was migrated by a newer release of the module with');
    const early = { name: 'Early1794000000000', statements: ['create table acme_ward_early (id int)'] };
    await expect(start([early, createHandOvers])).rejects.toThrow(
      'if it is new, move it to the end of the migrations with the prefix "acme_ward", with a later timestamp',
    );
    await expect(start([createHandOvers])).resolves.toBeUndefined();
  });
});

describe('a dynamic module', () => {
  it('may be one of `modules`, with providers, and with tables of the modules that it imports', async () => {
    const statements = ['create table acme_cot_size (id int primary key)'];
    @BringsMigrations({ prefix: 'acme_cot', migrations: [{ name: 'MakeCots1795000000000', statements }] })
    @Module({})
    class CotTables {}

    @Module({})
    class CotModule {
      static forRoot(size: number): DynamicModule {
        return { module: CotModule, imports: [CotTables], providers: [{ provide: 'size', useValue: size }] };
      }
    }
    const cots = await startTestApp({ modules: [CotModule.forRoot(12)] });
    try {
      expect(cots.provider('size')).toBe(12);
      const client = await cots.connect();
      expect((await client.query('select from acme_cot_size')).rowCount).toBe(0);
    } finally {
      await cots.close();
    }
  });
});

describe('search parameters of a module', () => {
  it('may be strings, numbers and quantities, and work in searches by code', async () => {
    @Injectable()
    @DefinesResourceType({
      type: 'Bed',
      searchParameters: [
        { code: 'name', kind: 'string', expression: 'Bed.name' },
        { code: 'rank', kind: 'number', expression: 'Bed.rank' },
        { code: 'length', kind: 'quantity', expression: 'Bed.length' },
      ],
    })
    class BedType {}

    @Module({ imports: [ResourceModule], providers: [BedType] })
    class BedModule {}
    const beds = await startTestApp({ modules: [BedModule] });
    try {
      const length = { value: 2, unit: 'm', system: 'http://unitsofmeasure.org', code: 'm' };
      await beds.put('/fhir/Bed/b1', { name: 'Window', rank: 1, length });
      await beds.put('/fhir/Bed/b2', { name: 'Door', rank: 2, length: { ...length, value: 3 } });
      const criteria = beds.provider(ResourceCriteria);
      for (const query of ['name=wind', 'rank=lt2', 'length=200|http://unitsofmeasure.org|cm']) {
        expect((await beds.get(`/fhir/Bed?${query}`)).json()).toMatchObject({
          total: 1,
          entry: [{ resource: { id: 'b1' } }],
        });
        const [found, ...others] = await criteria.find('Bed', query, 10);
        expect([found && viewOf<Bed>(found, 'Bed').rank, others]).toEqual([1, []]);
      }
      await expect(criteria.find('Bed', 'nam=wind', 10)).rejects.toThrow('Did you mean "name"?');
    } finally {
      await beds.close();
    }
  });
});

describe('expressions over a type with a shape', () => {
  @Injectable()
  @DefinesResourceType({
    type: 'Bed',
    shape: { Bed: { state: '1..1 code', part: '0..* Bed.part' }, 'Bed.part': { name: '0..1 string', at: '0..* date' } },
    searchParameters: [{ code: 'frame', kind: 'date', expression: "Bed.part.where(name = 'frame').at" }],
  })
  class BedType {}

  @Module({ providers: [BedType] })
  class BedModule {}

  let beds: TestApp;
  beforeAll(async () => {
    beds = await startTestApp({ modules: [BedModule] });
  });
  afterAll(() => beds.close());

  const topic = (fhirPathCriteria: string): object => ({
    resourceType: 'SvcSubscriptionTopic',
    url: 'http://acme.example/beds',
    status: 'active',
    trigger: [{ resource: 'Bed', fhirPathCriteria }],
  });

  it.each([
    ["sate = 'free'", 'Bed has no element \\"sate\\"; do you mean \\"state\\"?'],
    ["%previous.part.nam = 'x'", 'Bed.part has no element \\"nam\\"; do you mean \\"name\\"?'],
  ])('are refused in a topic if they name an element that is missing in the shape: %s', async (criterion, fault) => {
    for (const path of ['/fhir/SvcSubscriptionTopic', '/fhir/SvcSubscriptionTopic/$dry-run']) {
      const { status, text } = await beds.post(path, topic(criterion));
      expect([status, text]).toEqual([422, expect.stringContaining(fault)]);
    }
    expect((await beds.post('/fhir/SvcSubscriptionTopic', topic("state = 'free' and part.name = 'x'"))).status).toBe(
      201,
    );
  });

  it('are refused in a SearchParameter if they name an element that is missing in the shape', async () => {
    const parameter = (expression: string): object => ({
      resourceType: 'SearchParameter',
      url: `http://acme.example/SearchParameter/state`,
      name: 'state',
      description: 'x',
      status: 'active',
      code: 'state',
      base: ['Bed'],
      type: 'token',
      expression,
    });
    const { status, text } = await beds.put('/fhir/SearchParameter/state', parameter('Bed.sate'));
    expect([status, text]).toEqual([422, expect.stringContaining('Bed has no element \\"sate\\"')]);
    expect((await beds.put('/fhir/SearchParameter/state', parameter('Bed.state'))).status).toBe(201);
  });

  it('compare values, and may find repeated dates', async () => {
    const part = [
      { name: 'frame', at: ['2020-01-01', '2024-01-01'] },
      { name: 'wheel', at: ['2022-01-01'] },
    ];
    await beds.put('/fhir/Bed/b1', { state: 'free', part });
    const found = async (query: string): Promise<unknown> =>
      (await beds.get(`/fhir/Bed?${query}`)).json<{ total: number }>().total;
    expect([await found('frame=2020'), await found('frame=2024'), await found('frame=2022')]).toEqual([1, 1, 0]);
  });
});

describe('a duplicate key', () => {
  it('stops the start, and the error names it', async () => {
    const providers = ['first', 'second'].map((description) => {
      @RpcMethod({ method: 'acme.ward/hand-over', description })
      class Method {
        execute(): void {
          throw new Error('not called');
        }
      }
      return { provide: description, useClass: Method };
    });
    const app = await Test.createTestingModule({
      imports: [DiscoveryModule],
      providers: [RpcRegistry, ...providers],
    }).compile();
    await expect(app.init()).rejects.toThrow(
      'RpcRegistry: "acme.ward/hand-over" is registered twice, by Method of RootTestModule and by Method of RootTestModule',
    );
  });
});
