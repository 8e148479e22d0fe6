import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type IRouter } from 'express';
import { type TestApp, startTestApp } from '../../testing/test-app';
import { codeIn, rowsOf } from './documents';

interface DescribedSchema {
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, object>>;
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}

interface DescribedOperation {
  readonly operationId?: string;
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<
          Record<
            string,
            { readonly schema?: DescribedSchema | undefined; readonly example?: unknown; readonly examples?: unknown }
          >
        >;
      }
    >
  >;
}

let app: TestApp;
let document: string;
let whole: Record<string, unknown>;
let described: string[];

beforeAll(async () => {
  app = await startTestApp();
  whole = (await app.get('/api-json')).json();
  const { paths } = whole as { paths: Record<string, object> };
  document = JSON.stringify(paths);
  described = Object.entries(paths).flatMap(([path, item]) =>
    path.includes('$') ? [] : Object.keys(item).map((method) => onOneRoot(method, path)),
  );
});
afterAll(() => app.close());

const PROFILE = 'http://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once';
const destination = {
  meta: { profile: [PROFILE] },
  kind: 'webhook-at-least-once',
  topic: 'http://clinic.example/topics/none',
  parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/hook' }],
};
const parameter = {
  url: 'http://clinic.example/SearchParameter/x1',
  name: 'X1',
  status: 'draft',
  description: 'An example',
  code: 'x1',
  base: ['Patient'],
  type: 'token',
};
const EXAMPLES: Readonly<Record<string, string>> = { '{type}': 'Patient', '{id}': 'x1', '{version}': '1' };

describe('the routes of the reference', () => {
  const endpoints = rowsOf('docs/reference/routes.md', 'Routes').map(([endpoint = '']) => codeIn(endpoint)[0] ?? '');

  it.each(endpoints)('exist: %s', async (endpoint) => {
    await app.put('/fhir/Patient/x1', {});
    await app.put('/fhir/SDCDocument/x1', {});
    await app.put('/fhir/SvcTopicDestination/x1', destination);
    await app.put('/fhir/SearchParameter/x1', parameter);
    const [method = '', path = ''] = endpoint.replace(/\{\w+\}/g, (name) => EXAMPLES[name] ?? name).split(' ');
    const isRead = method === 'GET' || method === 'DELETE';
    const headers = path.endsWith('_search') ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {};
    const answer = await app.send(method, path, isRead ? {} : { body: path.endsWith('_search') ? '' : '{}', headers });
    const isRoute = answer.status !== 405 && !answer.text.includes('No such route');
    // Without a Session, `DELETE /Session` itself answers 404.
    expect({ endpoint, isRoute, isFound: answer.status !== 404 || endpoint === 'DELETE /Session' }).toEqual({
      endpoint,
      isRoute: true,
      isFound: true,
    });
  });
});

describe('the OpenAPI document', () => {
  it('describes every route', () => {
    expect(routes().filter((route) => !described.includes(route))).toEqual([]);
  });

  it('describes no path without a route', () => {
    // `put /Client/{id}` is answered by `put /{type}/{id}`.
    const patterns = routes().map(
      (route) => new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    );
    expect(described.filter((path) => !patterns.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('U2: contains for every operation a unique id, a response schema and an example', () => {
    const operations = Object.entries(whole.paths as Record<string, Record<string, DescribedOperation>>).flatMap(
      ([path, item]) =>
        Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => id === undefined || ids.indexOf(id) !== index)).toEqual([]);
    const empty = ['post /auth/revoke'];
    const contents = operations
      .filter(({ name, responses }) => responses['200'] !== undefined && !empty.includes(name))
      .flatMap(({ name, responses }) =>
        Object.values(responses['200']?.content ?? { none: {} }).map((described) => ({ name, ...described })),
      );
    expect(contents.filter(({ schema }) => schema === undefined).map(({ name }) => name)).toEqual([]);
    const shown = contents.filter(({ schema = {}, example, examples }) => schema.example ?? example ?? examples);
    const named = new Set(shown.map(({ name }) => name));
    expect(contents.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  });

  it('U2: distinguishes RPC methods by name, each with its params and its result', () => {
    const { schemas } = whole.components as { schemas: Record<string, DescribedSchema> };
    const methods = Object.keys(schemas.RpcCall?.discriminator?.mapping ?? {});
    expect(methods).toContain('svc.sdc.addendum/add-note');
    expect(Object.keys(schemas.RpcResults?.properties ?? {})).toEqual(methods);
    expect(schemas.SvcSdcAddendumAddNoteCall).toMatchObject({
      required: ['method', 'params'],
      properties: { params: { required: ['target', 'user', 'text'] } },
    });
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Patient', 'Observation', 'Diff', 'SDCAddendum']));
  });

  it('U4: is compressed, and is not sent again to a cache that has its digest', async () => {
    const first = await app.get('/api-json', { headers: { 'Accept-Encoding': 'br' } });
    expect(first.headers.get('content-encoding')).toBe('br');
    const known = { 'If-None-Match': first.headers.get('etag') ?? '' };
    expect((await app.get('/api-json', { headers: known })).status).toBe(304);
    const page = (await app.get('/api')).text;
    const [, bundle = ''] = /"\.(\/api\/swagger-ui-bundle\.js\?v=[\w-]+)"/.exec(page) ?? [];
    const script = await app.get(bundle, { headers: { 'Accept-Encoding': 'gzip' } });
    expect([script.headers.get('cache-control'), script.headers.get('content-encoding')]).toEqual([
      'public, max-age=31536000, immutable',
      'gzip',
    ]);
    expect((await app.get('/api/swagger-ui-bundle.js')).headers.get('cache-control')).toBe('no-cache');
  });

  it('contains the target of every reference', () => {
    const references = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    const found = (path: string): unknown =>
      path.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], whole);
    expect(references.filter((path) => found(path) === undefined)).toEqual([]);
    expect(references.length).toBeGreaterThan(100);
  });

  it('describes every operation and RPC method', () => {
    const names = ['Operations', 'RPC methods'].flatMap((heading) =>
      rowsOf('docs/reference/routes.md', heading).map(([cell]) => codeIn(cell)[0]?.split(' ').at(-1) ?? ''),
    );
    expect(names.filter((name) => !document.includes(`${name}"`))).toEqual([]);
    expect(names.length).toBeGreaterThan(0);
  });
});

/** The route in the form of the document, which describes the two roots of the resource API as one. */
const onOneRoot = (method: string, path: string): string => `${method} ${path.replace(/^\/fhir(?=\/|$)/, '') || '/'}`;

/**
 * The routes of one method each. Routes of any method are left out: they refuse other methods, or dispatch to an
 * operation. The document lists operations separately.
 */
function routes(): string[] {
  const adapter: { getInstance(): { router: IRouter } } = app.app.getHttpAdapter();
  const all = adapter.getInstance().router.stack.flatMap(({ route }) => (route === undefined ? [] : [route]));
  return all.flatMap(({ path, stack }) => {
    const methods = [...new Set(stack.map(({ method }) => method))];
    const isForAny = methods.length !== 1 || methods[0] === undefined;
    return isForAny || path.startsWith('/api')
      ? []
      : methods.map((method) => onOneRoot(method, path.replace(/:(\w+)/g, '{$1}')));
  });
}
