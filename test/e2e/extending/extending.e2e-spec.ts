import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { startTestApp, type TestApp } from 'svc-health-server/testing';
import { createHandOvers } from '../../../examples/ward/src/create-hand-overs.migration';
import { WardModule } from '../../../examples/ward/src/ward.module';
import { digestOf, type Migration } from '../../../src/platform/database/migration';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { MetricsServer } from '../../../src/platform/metrics/metrics-server';
import { RpcMethod } from '../../../src/rpc/rpc-method';
import { RpcRegistry } from '../../../src/rpc/rpc.registry';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp({ environment: { SVC_METRICS_PORT: '0' }, modules: [WardModule] });
});
afterAll(() => app.close());

describe('a module of another team (its doors: examples/ward/test)', () => {
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
    await expect(app.init()).rejects.toThrow(
      'RpcRegistry: "acme.ward/hand-over" is registered twice, by Method of RootTestModule and by Method of RootTestModule',
    );
  });
});
