import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

describe('U8: the page at /', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  const open = (accept: string, path = '/', authorization: string | null = null): Promise<Received> =>
    app.get(path, { authorization, headers: { Accept: accept } });

  it('links a browser to the public pages, without scripts', async () => {
    const { status, headers, text } = await open(BROWSER);
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept, Authorization',
    ]);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri/,
    );
    expect(text).not.toMatch(/<script|style=|https?:/);
    const links = [...text.matchAll(/href="\.(\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(links).toEqual(['/console/', '/api', '/api-json', '/metadata?_format=json', '/health']);
    for (const path of links) expect([path, (await open(BROWSER, path)).status]).toEqual([path, 200]);
  });

  it.each([
    ['*/*', null, '/', 401],
    ['application/fhir+json', null, '/', 401],
    ['application/json, text/html;q=0.5', null, '/', 401],
    [BROWSER, null, '/?_type=Patient', 401],
    [BROWSER, null, '/fhir', 401],
    [BROWSER, undefined, '/?_type=Patient', 200],
  ])(
    'is only for browsers: Accept %s, credentials %s, %s is %i as before',
    async (accept, authorization, path, status) => {
      const answer = await app.get(path, {
        ...(authorization === undefined ? {} : { authorization }),
        headers: { Accept: accept },
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, expect.stringMatching(/json/)]);
    },
  );

  it('allows GET and HEAD', async () => {
    const head = await app.send('HEAD', '/', { authorization: null, headers: { Accept: BROWSER } });
    expect([head.status, head.text]).toEqual([200, '']);
    const post = await app.send('POST', '/', { authorization: null, headers: { Accept: BROWSER }, body: {} });
    expect(post.status).toBe(401);
  });
});
