import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newName } from '../../support/destinations';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const POLICY =
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; ` +
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

describe('the files of the console', () => {
  let app: TestApp;
  let scripts: string[];
  beforeAll(async () => {
    app = await startTestApp();
    const { text } = await open('/console/');
    scripts = [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = '']) => path);
  });
  afterAll(() => app.close());

  const open = (path: string, headers: Record<string, string> = {}): Promise<Received> =>
    app.get(path, { authorization: null, headers });

  it('need no token, and their policy forbids other origins and inline code', async () => {
    const page = await open('/console/');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|style=|onclick|https?:/);
    expect(scripts.length).toBeGreaterThan(2);
    for (const path of ['', ...scripts]) {
      const { status, headers } = await open(`/console/${path}`);
      expect([path, status, headers.get('content-security-policy')]).toEqual([path, 200, POLICY]);
      expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        'nosniff',
        'no-referrer',
      ]);
    }
  });

  it('are cached permanently if their name has a digest, else revalidated', async () => {
    const cached = await Promise.all(
      ['', ...scripts].map(async (path) => {
        const { headers } = await open(`/console/${path}`);
        return [path.startsWith('assets/'), headers.get('cache-control')];
      }),
    );
    expect(cached).toEqual(
      cached.map(([isNamed]) => [isNamed, isNamed === true ? 'public, max-age=31536000, immutable' : 'no-cache']),
    );
    expect(cached.filter(([isNamed]) => isNamed).length).toBeGreaterThan(1);
    const etag = (await open('/console/')).headers.get('etag') ?? '';
    expect((await open('/console/', { 'If-None-Match': etag })).status).toBe(304);
  });

  it('are compressed for callers that accept it', async () => {
    const script = scripts.find((path) => path.endsWith('.js')) ?? '';
    const plain = await open(`/console/${script}`, { 'Accept-Encoding': 'identity' });
    const packed = await open(`/console/${script}`, { 'Accept-Encoding': 'gzip' });
    expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding']);
    expect(plain.headers.get('content-encoding')).toBeNull();
  });

  it('are found by a relative redirect from the address without a slash', async () => {
    const answer = await fetch(`${app.url}/console`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'console/']);
  });

  it.each([
    ['GET', '/console/none.js'],
    ['GET', '/console/assets/../../package.json'],
    ['GET', '/console/%2e%2e/package.json'],
    ['GET', '/console/..%2fpackage.json'],
    ['POST', '/console/'],
    ['DELETE', '/console/index.html'],
  ])('are the only public files: %s %s requires a token', async (method, path) => {
    const answer = await app.send(method, path, { authorization: null });
    expect([answer.status, answer.text.includes('svc-health-server')]).toEqual([401, false]);
  });
});

describe('SVC_CONSOLE=off', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_CONSOLE: 'off' } });
  });
  afterAll(() => app.close());

  it.each(['/console', '/console/', '/console/index.html', '/console/icon.svg'])(
    '%s answers as an unknown path, and no page links to it',
    async (path) => {
      for (const sent of [{ authorization: null }, {}]) {
        const answer = await app.get(path, sent);
        const other = await app.get(path.replace('console', newName()), sent);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          other.status,
          other.headers.get('content-type'),
        ]);
        expect([401, 404]).toContain(answer.status);
      }
      const front = await app.get('/', { authorization: null, headers: { Accept: 'text/html' } });
      expect([front.status, front.text.includes('console')]).toEqual([200, false]);
    },
  );
});
