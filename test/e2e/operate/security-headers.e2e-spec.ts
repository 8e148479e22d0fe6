import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MetricsServer } from '../../../src/platform/metrics/metrics-server';
import { newName } from '../../support/destinations';
import { type Sent, startTestApp, type TestApp } from '../../../testing/test-app';

/** Sends raw bytes, and returns the whole response. */
const exchanged = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let received = '';
    const socket = connect(Number(port), hostname);
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.on('error', reject).on('close', () => {
      resolve(received);
    });
    socket.write(bytes);
  });

describe('The headers of a response', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({
      environment: { SVC_CORS_ORIGINS: 'https://app.example', SVC_METRICS_PORT: '0' },
    });
    for (const id of ['p1', 'gone']) await app.put(`/Patient/${id}`, { resourceType: 'Patient', id });
    await app.delete('/Patient/gone');
    await app.put('/SDCDocument/d1', { resourceType: 'SDCDocument', status: 'completed' });
  });
  afterAll(() => app.close());

  const entry = (method: string, url: string): object => ({ request: { method, url } });
  const BATCH = { resourceType: 'Bundle', type: 'batch', entry: [entry('GET', 'Patient/p1'), entry('GET', 'No/p1')] };
  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

  it.each<[number, string, string, Sent?]>([
    [200, 'GET', '/Patient/p1'],
    [200, 'GET', '/fhir/Patient/p1', { headers: { Accept: 'text/yaml' } }],
    [200, 'HEAD', '/Patient/p1'],
    [304, 'GET', '/Patient/p1', { headers: { 'If-None-Match': 'W/"1"' } }],
    [200, 'GET', '/Patient?_count=1'],
    [200, 'GET', '/Patient/p1/_history'],
    [200, 'GET', '/Patient/p1/$everything', { headers: { Accept: 'application/fhir+ndjson' } }],
    [201, 'POST', '/Patient', { body: { resourceType: 'Patient' } }],
    [422, 'POST', '/Patient', { body: { resourceType: 'Patient', names: [] } }],
    [400, 'POST', '/Patient', { body: '{' }],
    [200, 'POST', '/', { body: BATCH }],
    [204, 'DELETE', '/Patient/none'],
    [404, 'GET', '/Patient/none'],
    [410, 'GET', '/Patient/gone'],
    [405, 'PUT', '/health', { body: {} }],
    [406, 'GET', '/Patient/p1', { headers: { Accept: 'image/png' } }],
    [401, 'GET', '/Patient/p1', { authorization: null }],
    [401, 'GET', '/Patient/p1', { authorization: 'Bearer none' }],
    [404, 'GET', '/nowhere/at/all'],
    [400, 'GET', '/Patient/%E0%A4%A'],
    [
      200,
      'POST',
      '/rpc',
      {
        body: {
          method: 'svc.sdc.addendum/get-addendums',
          params: { target: { resourceType: 'SDCDocument', id: 'd1' } },
        },
      },
    ],
    [400, 'POST', '/auth/token', { body: 'grant_type=none', headers: FORM, authorization: null }],
    [
      204,
      'OPTIONS',
      '/Patient',
      { headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' } },
    ],
    [200, 'GET', '/health', { authorization: null }],
    [200, 'GET', '/metadata', { authorization: null }],
    [200, 'GET', '/.well-known/jwks.json', { authorization: null }],
    [200, 'GET', '/console/', { authorization: null }],
    [200, 'GET', '/api', { authorization: null }],
    [200, 'GET', '/api/swagger-ui.css', { authorization: null }],
    [200, 'GET', '/api-json', { authorization: null }],
    [200, 'GET', '/SDCDocument/d1/$amendments?_format=html'],
  ])('S8.4: include nosniff: %d to %s %s', async (status, method, path, sent = {}) => {
    const answer = await app.send(method, path, sent);
    expect([answer.status, answer.headers.get('x-content-type-options')]).toEqual([status, 'nosniff']);
    const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
    if (isPage) expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
  });

  it('S8.4: include nosniff for invalid HTTP, and on the metrics port', async () => {
    expect(await exchanged(app.url, 'no request\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [^]*X-Content-Type-Options: nosniff/,
    );
    const { port = 0 } = app.app.get(MetricsServer, { strict: false });
    for (const path of ['/metrics', '/', '/none']) {
      const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('SVC_API_DOCS=off', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_API_DOCS: 'off' } });
  });
  afterAll(() => app.close());

  it.each(['/api', '/api/', '/api/index.html', '/api/swagger-ui-init.js', '/api/swagger-ui.css', '/api-json'])(
    'S8.7: %s answers as an unknown path',
    async (path) => {
      const unknown = path.replace('api', newName());
      for (const sent of [{ authorization: null }, {}]) {
        const [answer, other] = [await app.get(path, sent), await app.get(unknown, sent)];
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          other.status,
          'application/fhir+json; charset=utf-8',
        ]);
        expect([401, 404]).toContain(answer.status);
      }
    },
  );

  it('S8.7: no document links to the API pages, and other routes work', async () => {
    const { text } = await app.get('/.well-known/oauth-authorization-server', { authorization: null });
    expect(text).toContain('token_endpoint');
    expect(text).not.toContain('service_documentation');
    expect((await app.get('/Patient')).status).toBe(200);
  });
});
