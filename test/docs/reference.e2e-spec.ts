import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { FHIR_ERRORS } from '../../src/fhir/edge/operation-outcome';
import { OperationRegistry } from '../../src/operation/operation.registry';
import { OperationNames } from '../../src/platform/http/operation-names';
import { operationIdOfCode } from '../../src/platform/http/route-access';
import { ResourceTypes } from '../../src/model/resource-types';
import { rpcStatusOf } from '../../src/rpc/rpc-errors';
import { RpcRegistry } from '../../src/rpc/rpc.registry';
import { type TestApp, startTestApp } from '../../testing/test-app';
import { codeIn, rowsOf, sectionOf } from './documents';

const REFERENCE = 'docs/reference/routes.md';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const firstCodes = (heading: string): (string | undefined)[] =>
  rowsOf(REFERENCE, heading).map(([cell]) => codeIn(cell)[0]);

describe('docs/reference/routes.md', () => {
  it('C13.3: lists exactly the Operations that a policy can link to', () => {
    const documented = rowsOf(REFERENCE, 'Interactions').flatMap(([cell]) => codeIn(cell));
    const dynamic = app.app.get(OperationRegistry, { strict: false }).all();
    const ofOperations = dynamic.map(({ meta }) => operationIdOfCode(meta.code));
    const names = [...app.app.get(OperationNames).all()].filter((name) => !ofOperations.includes(name));
    expect(documented.sort()).toEqual(names.sort());
    expect(app.app.get(OperationNames).all()).toEqual(new Set([...documented, ...ofOperations]));
  });

  it("lists the server's own resource types with their search parameters", () => {
    const documented = rowsOf(REFERENCE, 'Resource types').map(([type, , parameters]) => [
      codeIn(type)[0],
      codeIn(parameters),
    ]);
    const registered = app.app.get(ResourceTypes, { strict: false }).own();
    const wanted = registered.map(({ type, searchParameters = [] }) => [
      type,
      searchParameters.map(({ code }) => code),
    ]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(wanted));
  });

  it('lists the RPC methods', () => {
    const registered = app.app.get(RpcRegistry, { strict: false }).all();
    expect(firstCodes('RPC methods').sort()).toEqual(registered.map(({ meta }) => meta.method).sort());
  });

  it('lists the operations', () => {
    const registered = app.app.get(OperationRegistry, { strict: false }).all();
    const wanted = registered.flatMap(({ meta: { methods, resourceType, level, code } }) => {
      const path = [
        '',
        ...(resourceType === undefined ? [] : [resourceType]),
        ...(level === 'instance' ? ['{id}'] : []),
        `$${code}`,
      ];
      return methods.map((method) => `${method} ${path.join('/')}`);
    });
    expect(firstCodes('Operations').sort()).toEqual(wanted.sort());
  });

  it('lists the error kinds with the status of each edge', () => {
    const documented = rowsOf(REFERENCE, 'Errors').map(([kind, status, issue, rpc]) => [
      codeIn(kind)[0],
      { status: Number(status), issue: codeIn(issue)[0], rpc: Number(rpc) },
    ]);
    const wanted = Object.entries(FHIR_ERRORS).map(([kind, { status, issue }]) => [
      kind,
      { status, issue, rpc: rpcStatusOf(kind as keyof typeof FHIR_ERRORS) },
    ]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(wanted));
  });
});

describe('docs/explanation/storage.md', () => {
  it('explains every table', async () => {
    const tables = await app.app.get(DataSource).query<{ name: string }[]>(
      `select relname as name from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
    );
    const documented = codeIn(
      rowsOf('docs/explanation/storage.md', 'Tables')
        .map(([cell]) => cell)
        .join(' '),
    );
    expect(documented.sort()).toEqual(tables.map(({ name }) => name));
    expect(sectionOf('docs/explanation/storage.md', 'Tables')).toContain('`resource_json`');
  });
});
