import { type ServerResponse, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { ROOT, type Received, startTestApp, type TestApp } from '../../../testing/test-app';

interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly { readonly code: string; readonly diagnostics: string }[];
}

/** The request, the status of its response, and a word of the remedy in its text. */
type Odd = readonly [method: string, path: string, status: number, says: string, headers?: Record<string, string>];

const ORIGIN = 'https://app.example';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const A64 = 'a'.repeat(64);
const PATIENT = { resourceType: 'Patient', name: [{ family: 'Odd' }] };
const BODIES: Readonly<Record<string, object | undefined>> = { PUT: PATIENT, POST: PATIENT, PATCH: { active: true } };

const REFUSED: readonly Odd[] = [
  ['GET', `/Patient/${A64}a`, 400, '1 to 64'],
  ['PUT', `/Patient/${A64}a`, 400, '1 to 64'],
  ['GET', '/Patient/a%20b', 400, '1 to 64'],
  ['GET', '/Patient/p%2F_history', 400, '1 to 64'],
  ['GET', '/Patient/p%00', 400, '1 to 64'],
  ['GET', '/Patient/%ff', 400, 'UTF-8'],
  ['GET', '/Patient?family=%ff', 400, 'UTF-8'],
  ['GET', '/Patient?family=%C3&given=%A9', 400, 'UTF-8'],
  ['GET', '/Patient?family=%ff&_format=%ff', 400, 'UTF-8'],
  ['GET', '/Observation?value-quantity=1e400', 400, 'out of range'],
  ['GET', `/Patient/${A64}`, 404, 'not found'],
  ['GET', '/patient/p', 404, '"patient" is not a resource type'],
  ['GET', '/Patient/p/_history/0', 404, 'no version 0'],
  ['GET', '/Patient/p/_history/1.0', 404, 'whole number'],
  ['GET', '/Patient//p', 404, 'metadata'],
  ['PUT', '/Patient/p?identifier=x', 400, 'conditional'],
  ['PATCH', '/Patient/p?identifier=x', 400, 'conditional'],
  ['DELETE', '/Patient/p?identifier=x', 400, 'conditional'],
  ['DELETE', '/Patient/p?_no-content=maybe', 400, 'true or false'],
  ['PUT', '/Patient/p', 400, 'W/"2"', { 'If-Match': 'abc' }],
  ['PUT', '/Patient/p', 400, 'W/"2"', { 'If-Match': '*, W/"1"' }],
  ['PUT', '/Patient/p', 400, 'W/"2"', { 'If-Match': '' }],
  ['PUT', '/Patient/p', 412, 'Read the resource again', { 'If-Match': '"of-another-server"' }],
  ['PUT', '/Patient/p', 412, 'Read the resource again', { 'If-Match': 'W/"99999999999"' }],
  ['PUT', '/Patient/p', 412, 'exists already', { 'If-None-Match': '*' }],
  ['PUT', '/Patient/p', 400, 'If-Match', { 'If-Unmodified-Since': 'Fri, 01 Jan 1999 00:00:00 GMT' }],
  ['DELETE', '/Patient/p', 400, 'If-Match', { 'If-Unmodified-Since': 'Fri, 01 Jan 1999 00:00:00 GMT' }],
  ['PUT', '/Patient/p', 400, 'If-None-Exist', { 'If-None-Exist': 'identifier=1' }],
  ['PATCH', '/Patient/p', 400, 'If-None-Exist', { 'If-None-Exist': 'identifier=1' }],
  ['DELETE', '/Patient/p', 400, 'If-None-Exist', { 'If-None-Exist': 'identifier=1' }],
  ['POST', '/Patient', 400, 'If-None-Exist', { 'If-Match': 'W/"1"' }],
  ['POST', '/Patient', 400, 'If-None-Exist', { 'If-None-Match': '*' }],
  ['POST', '/Patient', 400, 'If-None-Exist', { 'If-Unmodified-Since': 'Fri, 01 Jan 1999 00:00:00 GMT' }],
  ['PUT', '/Patient/p', 415, 'application/fhir+json', { 'Content-Type': 'text/plain' }],
  ['PUT', '/Patient/p', 415, 'application/fhir+json', { 'Content-Type': ';' }],
  ['PUT', '/Patient/p', 415, 'R4', { 'Content-Type': 'application/fhir+json; fhirVersion=3.0' }],
  ['PUT', '/Patient', 400, 'in the path, as in Patient/p7'],
  ['PUT', '/Patient?_pretty=true', 400, 'in the path, as in Patient/p7'],
  ['DELETE', '/Observation', 400, 'in the path, as in Observation/p7'],
  ['POST', '/Patient', 400, 'Name criteria', { 'If-None-Exist': '' }],
  ['POST', '/Patient', 400, '"_count"', { 'If-None-Exist': '_count=1' }],
  ['DELETE', '/Patient?family=none', 400, 'remove-all', { 'x-conditional-delete': 'all' }],
  ['GET', `/Patient?${'family=a&'.repeat(40)}`, 400, 'at most'],
  ['GET', `/Patient?_id=${'a,'.repeat(1500)}a`, 400, 'at most'],
  ['GET', `/Patient?family=${'a'.repeat(10_000)}`, 400, '256'],
  ['GET', '/Patient?family=a%00', 400, 'NUL'],
  ['GET', '/Patient?constructor=x', 400, 'no search parameter "constructor"'],
  ['GET', '/Location?near=48|16|5|constructor', 400, 'measure no length'],
  ['PATCH', '/Patient/p', 415, 'application/json-patch+json', { 'Content-Type': 'constructor' }],
  ['GET', '/Patient/p?_pretty=yes', 400, 'true or false'],
  ['GET', '/Patient/p?_format=xml', 406, 'application/fhir+json'],
];

const diagnosticsOf = (answer: Received): string => answer.json<Outcome>().issue[0]?.diagnostics ?? '';

describe('an unusual request', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_CORS_ORIGINS: ORIGIN } });
    await app.put('/Patient/p', PATIENT);
  });
  afterAll(() => app.close());

  const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Received> => {
    const body = BODIES[method];
    return app.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
  };

  /** Sends repeated headers and paths that fetch would not send. */
  const sendRaw = (method: string, path: string, headers: readonly string[], body = ''): Promise<Received> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      const host = ['Host', hostname, 'Authorization', ROOT, 'Content-Length', String(Buffer.byteLength(body))];
      const sent = httpRequest(
        { agent: false, method, hostname, port, path, headers: [...host, ...headers] },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const answered = new Headers(
              Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
            );
            resolve({
              status: response.statusCode ?? 0,
              headers: answered,
              text,
              json: <T>() => JSON.parse(text) as T,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });

  describe('with a method that the route does not support is 405, with the supported ones', () => {
    it.each([
      ['DELETE', '', 'GET, HEAD, POST'],
      ['PUT', '', 'GET, HEAD, POST'],
      ['PUT', '/Patient/_search', 'POST'],
      ['GET', '/Patient/_search', 'POST'],
      ['HEAD', '/Patient/_search', 'POST'],
      ['DELETE', '/Patient/_search', 'POST'],
      ['POST', '/Patient/p', 'GET, HEAD, PUT, PATCH, DELETE'],
      ['POST', '/Patient/p/Observation', 'GET, HEAD'],
      ['DELETE', '/Patient/p/Observation', 'GET, HEAD'],
      ['POST', '/metadata', 'GET, HEAD'],
      ['PUT', '/Patient/p/_history/1', 'GET, HEAD'],
      ['POST', '/Patient/p/_history', 'GET, HEAD'],
      ['PATCH', '/SDCAddendum', 'GET, HEAD'],
    ])('%s [base]%s', async (method, path, allow) => {
      for (const root of ['/fhir', '']) {
        const answer = await send(method, `${root}${path}` || '/');
        expect([method, root, answer.status, answer.headers.get('allow')]).toEqual([method, root, 405, allow]);
        if (method !== 'HEAD') expect(answer.json<Outcome>().issue[0]?.code).toBe('not-supported');
      }
    });

    it('POST /health', async () => {
      const answer = await app.send('POST', '/health', { authorization: null, body: {} });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });
  });

  it.each(REFUSED.map((row) => [`${row[0]} [base]${row[1].slice(0, 60)} is ${row[2]}`, row] as const))(
    '%s, with a remedy',
    async (_name, [method, path, status, says, headers]) => {
      for (const root of ['/fhir', '']) {
        const answer = await send(method, `${root}${path}`, headers);
        expect([answer.status, answer.json<Outcome>().resourceType]).toEqual([status, 'OperationOutcome']);
        expect(diagnosticsOf(answer)).toContain(says);
      }
      expect((await app.get('/Patient/p')).headers.get('etag')).toBe('W/"1"');
    },
  );

  it.each<readonly [path: string, headers?: Record<string, string>]>([
    ['/fhir/%50atient/%70'],
    ['/Patient/p/'],
    ['/Patient/p?unknown=x', { Prefer: 'handling=lenient' }],
    ['/Patient/p?_format=json&_format=xml'],
    ['/Patient/p?_elements='],
    ['/Patient/p', { 'If-None-Match': 'abc' }],
    ['/Patient/p', { 'If-Modified-Since': 'yesterday' }],
  ])('GET %s returns the resource all the same', async (path, headers = {}) => {
    const answer = await app.get(path, { headers });
    expect([answer.status, answer.json<{ id: string }>().id]).toEqual([200, 'p']);
  });

  it('with a double slash is 404', async () => {
    expect((await sendRaw('GET', '//fhir/Patient/p', [])).status).toBe(404);
  });

  it('with another case in the path is 404, since FHIR paths are case-sensitive', async () => {
    const { paths } = (await app.get('/api-json')).json<{ paths: Record<string, object> }>();
    const roots = ['/fhir', '', ...Object.keys(paths), '/api', '/api-json'].map((path) => `${path}/`);
    const lowered = roots.map((path) => path.replace(/^\/[A-Z]\w+/, (type) => type.toLowerCase()));
    const others = [...lowered, ...roots.map((path) => path.replace(/^\/[a-z]/, (start) => start.toUpperCase()))];
    const asked = [...new Set(others)].filter((path) => !roots.includes(path));
    expect(asked).toEqual(
      expect.arrayContaining(['/Fhir/', '/Auth/token/', '/session/', '/Rpc/', '/Api/', '/Health/']),
    );
    const answered: unknown[] = [];
    for (const path of asked)
      for (const method of ['GET', 'POST']) {
        const { status } = await send(method, path.replace(/\{\w+\}/g, 'p'));
        // On this root, `Fhir` is an unknown type, and `$validate` accepts only POST.
        if (status !== 404 && `${method} ${path} ${status}` !== 'GET /Fhir/$validate/ 405')
          answered.push({ method, path, status });
      }
    expect(answered).toEqual([]);
  });

  it('with two If-None-Exist headers is refused, since their joined value would mean something else', async () => {
    const headers = [
      'Content-Type',
      'application/json',
      'If-None-Exist',
      'identifier=1',
      'If-None-Exist',
      'identifier=2',
    ];
    const answer = await sendRaw('POST', '/Patient', headers, JSON.stringify(PATIENT));
    expect([answer.status, diagnosticsOf(answer)]).toEqual([400, expect.stringContaining('twice')]);
  });

  it('with two If-Match headers matches either value', async () => {
    const headers = ['Content-Type', 'application/json', 'If-Match', 'W/"7"', 'If-Match', 'W/"1"'];
    expect((await sendRaw('PUT', '/Patient/p', headers, JSON.stringify(PATIENT))).status).toBe(200);
  });

  it('with two Host headers is refused', async () => {
    const answer = await sendRaw('GET', '/Patient/p', ['Host', 'other.example']);
    expect([answer.status, diagnosticsOf(answer)]).toEqual([400, expect.stringContaining('Host')]);
  });

  it('that writes with If-Modified-Since ignores that header', async () => {
    const headers = { 'If-Modified-Since': new Date(Date.now() + 60_000).toUTCString() };
    const { name } = PATIENT;
    expect((await app.put('/Person/modified', { resourceType: 'Person', name }, { headers })).status).toBe(201);
  });

  it.each([
    ['GET', 'ifMatch', 'W/"1"'],
    ['GET', 'ifNoneExist', 'identifier=1'],
    ['POST', 'ifMatch', 'W/"1"'],
    ['POST', 'ifNoneMatch', '*'],
    ['POST', 'ifModifiedSince', '1999-01-01T00:00:00Z'],
    ['PUT', 'ifNoneExist', 'identifier=1'],
    ['PUT', 'ifModifiedSince', '1999-01-01T00:00:00Z'],
    ['DELETE', 'ifNoneExist', 'identifier=1'],
    ['PATCH', 'ifNoneExist', 'identifier=1'],
  ])('in a Bundle by %s with %s is refused, since the condition would have no effect', async (method, name, value) => {
    const request = { method, url: method === 'POST' ? 'Patient' : 'Patient/p', [name]: value };
    const entry = [{ request, ...(['POST', 'PUT', 'PATCH'].includes(method) ? { resource: PATIENT } : {}) }];
    for (const type of ['transaction', 'batch']) {
      const answer = await app.post('/fhir', { resourceType: 'Bundle', type, entry });
      expect([type, answer.status, diagnosticsOf(answer)]).toEqual([type, 400, expect.stringContaining(name)]);
    }
    expect((await app.get('/Patient/p')).headers.get('etag')).toBe('W/"1"');
  });

  it('in a transaction with criteria in both URL and ifNoneExist is refused', async () => {
    const request = { method: 'POST', url: 'Patient?identifier=1', ifNoneExist: 'identifier=2' };
    const entry = [{ request, resource: PATIENT }];
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'transaction', entry });
    expect([answer.status, diagnosticsOf(answer)]).toEqual([400, expect.stringContaining('not in both')]);
  });

  it('with search parameters in both URL and form applies both', async () => {
    await app.put('/Patient/both', { ...PATIENT, gender: 'female' });
    const found = async (path: string, body: string): Promise<number | undefined> =>
      (await app.post(path, body, { headers: FORM })).json<Bundle>().total;
    expect(await found('/Patient/_search?family=Odd', 'gender=female')).toBe(1);
    expect(await found('/Patient/_search?family=Odd', 'gender=male')).toBe(0);
    expect(await found('/Patient/_search/', '')).toBe(2);
  });

  it('with _format in the search form is answered in that format', async () => {
    const yaml = await app.post('/Patient/_search', '_format=yaml&family=Odd', { headers: FORM });
    expect([yaml.status, yaml.headers.get('content-type'), yaml.text]).toEqual([
      200,
      'text/yaml; charset=utf-8',
      expect.stringContaining('type: searchset'),
    ]);
    expect((await app.post('/Patient/_search', '_format=xml', { headers: FORM })).status).toBe(406);
    expect((await app.post('/Patient/_search', '_pretty=true', { headers: FORM })).text).toContain('\n');
  });

  it('with a form that is not UTF-8 is 400', async () => {
    const answer = await app.post('/Patient/_search', 'family=%ff', { headers: FORM });
    expect([answer.status, diagnosticsOf(answer)]).toEqual([400, expect.stringContaining('UTF-8')]);
  });

  it('with a search as JSON is 415, with the right media type', async () => {
    const answer = await app.post('/Patient/_search', { family: 'Odd' });
    expect([answer.status, diagnosticsOf(answer)]).toEqual([415, expect.stringContaining('x-www-form-urlencoded')]);
  });

  it('with a URL over the HTTP limit is 431, with the advice to use _search', async () => {
    const answer = await sendRaw('GET', `/Patient?family=${'a'.repeat(20_000)}`, []);
    expect([answer.status, diagnosticsOf(answer)]).toEqual([431, expect.stringContaining('_search')]);
  });

  it.each(['http://other.example', 'HTTPS://other.example:8443'])(
    'with a target in absolute form (%s) is treated as the same request',
    async (origin) => {
      const form = ['Content-Type', 'application/x-www-form-urlencoded'];
      for (const [method, path, body] of [
        ['POST', '/auth/token', 'x'.repeat(70_000)],
        ['GET', '/metadata', ''],
        ['GET', '?_count=0', ''],
      ] as const) {
        const [absolute, plain] = [`${origin}${path}`, path.startsWith('/') ? path : `/${path}`];
        const [got, wanted] = [await sendRaw(method, absolute, form, body), await sendRaw(method, plain, form, body)];
        expect([got.status, got.text]).toEqual([wanted.status, wanted.text]);
      }
    },
  );

  it('with thousands of headers keeps all of them', async () => {
    const filler = Array.from({ length: 1_500 }, () => ['a', '']).flat();
    const answer = await sendRaw('GET', '/Patient?unknown=1', [...filler, 'Prefer', 'handling=lenient']);
    expect(answer.status).toBe(200);
  });

  /** Writes these bytes to a connection, and returns all that is received until the server closes it. */
  const sendBytes = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      let received = '';
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('close', () => {
        resolve(received);
      });
      socket.on('error', reject);
    });

  describe('with Expect', () => {
    const put = (headers: readonly string[]): string =>
      ['PUT /fhir/Patient/p HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
    const bearer = `Authorization: ${ROOT}`;

    it.each<readonly [status: string, expects: string, headers: readonly string[]]>([
      ['401 Unauthorized', '100-continue', ['Content-Length: 100']],
      ['413 Payload Too Large', '100-continue', [bearer, 'Content-Length: 9999999999']],
      ['415 Unsupported Media Type', '100-continue', [bearer, 'Content-Length: 100', 'Content-Encoding: x']],
      ['417 Expectation Failed', 'something-else', [bearer, 'Content-Length: 100']],
    ])('is %s without 100 Continue if the headers already lead to it', async (status, expects, headers) => {
      const received = await sendBytes(put([...headers, `Expect: ${expects}`]));
      expect(received.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
    });

    it('gets 100 Continue before its body is read, and then the response', async () => {
      const body = JSON.stringify(PATIENT);
      const { hostname, port } = new URL(app.url);
      const socket = connect(Number(port), hostname);
      socket.write(put([bearer, `Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close']));
      let received = '';
      for await (const chunk of socket) {
        if (received === '') socket.write(body);
        received += String(chunk);
      }
      expect(received.match(/HTTP\/1\.1 .*/g)).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK']);
    });
  });

  it('that is not HTTP is 400 with an OperationOutcome', async () => {
    expect(await sendBytes('HELLO\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*OperationOutcome/);
  });

  it('that is not HTTP is refused after the responses to the requests before it', async () => {
    const head = (method: string, path: string): string =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${ROOT}\r\nContent-Type: application/json\r\n`;
    const body = JSON.stringify({ resourceType: 'Patient', id: 'before-garbage' });
    const put = `${head('PUT', '/fhir/Patient/before-garbage')}Content-Length: ${body.length}\r\n\r\n${body}`;
    const chunked = `${head('PUT', '/fhir/Patient/p')}Transfer-Encoding: chunked\r\n\r\n`;
    const statusesOf = (text: string): readonly string[] => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    expect(statusesOf(await sendBytes(`${put}HELLO\r\n\r\n`))).toEqual(['201', '400']);
    expect(statusesOf(await sendBytes(`${put}${chunked}no size\r\n`))).toEqual(['200', '400']);
    expect(statusesOf(await sendBytes(`${chunked}no size\r\n`))).toEqual(['400']);
  });

  it('that continues with invalid bytes adds only one listener during an earlier request', async () => {
    const other = await app.connect();
    await other.query('begin; lock table resource in access exclusive mode');
    const listeners: number[] = [];
    let response: ServerResponse | undefined;
    const count = (): number => listeners.push(response?.listenerCount('close') ?? NaN);
    app.app.getHttpServer().prependOnceListener('request', (_request, answer) => (response = answer));
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /fhir/Patient/p HTTP/1.1\r\nHost: x\r\nAuthorization: ${ROOT}\r\n\r\n`);
    for (let sent = 0; sent < 20; sent++) {
      await delay(10);
      socket.write('HELLO\r\n\r\n');
      if (sent === 10) count();
    }
    count();
    await other.query('rollback');
    let received = '';
    for await (const chunk of socket) received += String(chunk);
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['200', '400']);
    expect(listeners[1]).toBe(listeners[0]);
  });

  it('in a batch entry fails only that entry, with a remedy', async () => {
    const entry = ['auth/token', '../../health', 'Patient/p#x', 'http://other.example/Patient/p'].map((url) => ({
      request: { method: 'GET', url },
    }));
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    const { entry: entries } = answer.json<{ entry: { response: { status: string; outcome: Outcome } }[] }>();
    expect(entries.map(({ response }) => response.status)).toEqual(Array(4).fill('400 Bad Request'));
    expect(entries.map(({ response }) => response.outcome.issue[0]?.diagnostics)).toEqual([
      expect.stringContaining('Type/id'),
      expect.stringContaining('Type/id'),
      expect.stringContaining('Leave it out'),
      expect.stringContaining('Make it relative'),
    ]);
  });

  it('from an allowed origin gets the list of readable headers', async () => {
    const preflight = await app.send('OPTIONS', '/fhir/Patient/p', {
      authorization: null,
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,if-match',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'authorization,if-match',
    ]);
    const read = await app.get('/fhir/Patient/p', { headers: { Origin: ORIGIN } });
    expect(read.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(read.headers.get('access-control-expose-headers')).toMatch(
      /Location.*ETag.*Warning.*X-Request-Id,X-Correlation-Id$/,
    );
    const headers = { Origin: ORIGIN, 'Content-Type': 'application/fhir+json', 'Content-Encoding': 'gzip' };
    const broken = await app.put('/fhir/Patient/p', 'no gzip', { headers });
    expect([broken.status, broken.headers.get('access-control-allow-origin')]).toEqual([400, ORIGIN]);
    const stranger = await app.get('/fhir/Patient/p', { headers: { Origin: 'https://evil.example' } });
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([['GET'], ['OPTIONS']])(
    'C13.6: by %s allows credentials for an allowed origin, and for no other',
    async (method) => {
      const credentialsFor = async (headers: Record<string, string>): Promise<unknown[]> => {
        const answer = await app.send(method, '/fhir/Patient/p', { headers });
        return [answer.headers.get('access-control-allow-credentials'), answer.headers.get('vary')?.includes('Origin')];
      };
      expect(await credentialsFor({ Origin: ORIGIN })).toEqual(['true', true]);
      expect(await credentialsFor({ Origin: 'https://evil.example' })).toEqual([null, true]);
      expect(await credentialsFor({})).toEqual([null, true]);
    },
  );
});
