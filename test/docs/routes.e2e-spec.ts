import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type IRouter } from 'express';
import { type TestApp, startTestApp } from '../support/test-app';
import { codeIn, rowsOf } from './documents';

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

describe('the endpoints of the README', () => {
  const endpoints = rowsOf('README.md', 'Where things are').map(([endpoint = '']) => codeIn(endpoint)[0] ?? '');

  it.each(endpoints)('%s answers', async (endpoint) => {
    await app.put('/fhir/Patient/x1', {});
    await app.put('/fhir/SDCDocument/x1', {});
    await app.put('/fhir/SvcTopicDestination/x1', destination);
    await app.put('/fhir/SearchParameter/x1', parameter);
    const [method = '', path = ''] = endpoint.replace(/\{\w+\}/g, (name) => EXAMPLES[name] ?? name).split(' ');
    const isRead = method === 'GET' || method === 'DELETE';
    const headers = path.endsWith('_search') ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {};
    const answer = await app.send(method, path, isRead ? {} : { body: path.endsWith('_search') ? '' : '{}', headers });
    const isRoute = answer.status !== 405 && !answer.text.includes('No such route');
    // Without a Session, DELETE /Session answers 404 by itself.
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

  it('describes nothing that no route answers', () => {
    // `put /Client/{id}` is answered by `put /{type}/{id}`.
    const patterns = routes().map(
      (route) => new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    );
    expect(described.filter((path) => !patterns.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('refers to nothing that it does not hold', () => {
    const references = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    const found = (path: string): unknown =>
      path.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], whole);
    expect(references.filter((path) => found(path) === undefined)).toEqual([]);
    expect(references.length).toBeGreaterThan(100);
  });

  it('describes every operation and RPC method', () => {
    const names = ['Operations', 'RPC methods'].flatMap((heading) =>
      rowsOf('docs/interface/reference.md', heading).map(([cell]) => codeIn(cell)[0]?.split(' ').at(-1) ?? ''),
    );
    expect(names.filter((name) => !document.includes(`${name}"`))).toEqual([]);
    expect(names.length).toBeGreaterThan(0);
  });
});

/** Both roots of the resource API are one route to the document. */
const onOneRoot = (method: string, path: string): string => `${method} ${path.replace(/^\/fhir(?=\/|$)/, '') || '/'}`;

/** Routes for one method; those for any method refuse it, or find an operation, which the document lists by itself. */
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
