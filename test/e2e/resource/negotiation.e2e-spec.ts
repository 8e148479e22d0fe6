import { request as httpRequest } from 'node:http';
import { gunzipSync, gzipSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

const OBSERVATION =
  '{"resourceType":"Observation","id":"o1","status":"final","code":{"text":"yes"},"valueQuantity":{"value":1.10,"unit":"1.10"},"note":[{"text":"two\\nlines"}]}';
const observation = (status: string): object => ({ status, code: { text: 'yes' } });

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

describe('content negotiation', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Observation/o1', OBSERVATION);
  });
  afterAll(() => app.close());

  /** Sends without fetch, which requests compression and decompresses by itself. */
  const raw = (method: string, path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<RawAnswer> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        `${app.url}${path}`,
        { method, headers: { Authorization: ROOT, ...headers } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () => {
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const read = (path: string, headers: Record<string, string> = {}): Promise<RawAnswer> => raw('GET', path, headers);

  describe('formats', () => {
    it.each(['application/fhir+json', 'application/json', 'application/json+fhir', 'text/json'])(
      'returns the requested JSON type %s, for resources, Bundles, outcomes and /metadata',
      async (accept) => {
        for (const path of [
          '/Observation/o1',
          '/fhir/Observation?_id=o1',
          '/Observation/none',
          '/metadata',
          '/Observation/o1/_history',
        ]) {
          const { headers, body } = await read(path, { Accept: accept });
          expect([path, headers['content-type']]).toEqual([path, `${accept}; charset=utf-8`]);
          expect(() => JSON.parse(body.toString()) as unknown).not.toThrow();
        }
      },
    );

    it.each(['text/yaml', 'application/yaml', 'application/fhir+yaml'])(
      'returns YAML for the type %s',
      async (accept) => {
        for (const path of ['/Observation/o1', '/fhir/Observation?_id=o1', '/Observation/none', '/metadata']) {
          const json = JSON.parse((await read(path)).body.toString()) as object;
          const { headers, body } = await read(path, { Accept: accept });
          expect([path, headers['content-type']]).toEqual([path, `${accept}; charset=utf-8`]);
          expect(load(body.toString())).toEqual(json);
        }
      },
    );

    it('keeps digits and string types in YAML', async () => {
      const yaml = (await read('/Observation/o1?_format=yaml')).body.toString();
      expect(yaml).toContain('  value: 1.10\n  unit: "1.10"\n');
      expect(yaml).toContain('  text: "yes"\n');
    });

    it('accepts the Accept header of a browser', async () => {
      const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
      expect((await read('/Observation/o1', { Accept: accept })).headers['content-type']).toMatch(
        /^application\/fhir\+json/,
      );
    });

    it('refuses an unsupported type with 406 and the supported ones, before it writes', async () => {
      const refusedRead = await app.get('/Observation/o1', { headers: { Accept: 'application/fhir+xml' } });
      expect([refusedRead.status, refusedRead.json()]).toEqual([
        406,
        expect.objectContaining({
          resourceType: 'OperationOutcome',
          issue: [
            expect.objectContaining({ code: 'not-supported', diagnostics: expect.stringContaining('text/yaml') }),
          ],
        }),
      ]);
      expect((await app.get('/metadata?_format=xml')).status).toBe(406);
      expect((await app.get('/fhir/Observation/o1/_history?_format=xml')).status).toBe(406);
      const path = '/Observation/not-acceptable';
      expect((await app.put(path, observation('final'), { headers: { Accept: 'application/xml' } })).status).toBe(406);
      expect((await app.get(path)).status).toBe(404);
    });

    it('prefers _format to Accept, and does not affect other routes', async () => {
      const answer = await read('/Observation/o1?_format=application/json', { Accept: 'application/fhir+xml' });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect((await app.get('/health', { headers: { Accept: 'text/plain' } })).status).toBe(200);
    });

    it('pretty-prints with _pretty=true, and keeps digits', async () => {
      const pretty = (await read('/Observation/o1?_pretty=true')).body.toString();
      expect(pretty).toContain('\n  "valueQuantity": {\n    "value": 1.10,\n');
      expect((await read('/Observation/o1?_pretty=false')).body.toString()).not.toContain('\n');
      expect((await read('/Observation/o1?_pretty=yes')).status).toBe(400);
    });
  });

  describe('YAML bodies', () => {
    const yaml = (path: string, body: string): ReturnType<TestApp['put']> =>
      app.put(path, body, { headers: { 'Content-Type': 'text/yaml' } });

    it('are stored as the same JSON would be, including digits', async () => {
      const stored = await yaml(
        '/Observation/y1',
        'resourceType: Observation\nstatus: final\ncode: { text: "yes" }\nvalueQuantity:\n  value: 1.10\n',
      );
      expect([stored.status, stored.text]).toEqual([
        201,
        expect.stringMatching(/,"status":"final","code":\{"text":"yes"\},"valueQuantity":\{"value":1\.10\}\}$/),
      ]);
    });

    it('work for operations as JSON does', async () => {
      const headers = { 'Content-Type': 'text/yaml' };
      const valid = await app.post('/fhir/Patient/$validate', 'resourceType: Patient\nactive: yes\n', { headers });
      expect([valid.status, valid.text]).toEqual([200, expect.stringContaining('Patient.active')]);
      const chart = await app.post(
        '/fhir/Patient/p1/$everything',
        'resourceType: Parameters\nparameter:\n- name: _type\n  valueCode: none\n',
        { headers },
      );
      expect([chart.status, chart.text]).toEqual([400, expect.stringContaining('none')]);
    });

    it.each([
      ['duplicate keys', 'a: 1\na: 2', 400],
      ['aliases', 'a: &x [1]\nb: *x', 400],
      ['depth', `a: ${'['.repeat(200)}`, 400],
      ['a body that is not an object', '- a', 400],
      ['more than a mebibyte', `a: "${'x'.repeat(1024 * 1024)}"`, 413],
    ])('refuse %s', async (_name, body, status) => {
      expect((await yaml('/Observation/y2', body)).status).toBe(status);
    });
  });

  describe('conditional reads', () => {
    it('return 304 with ETag and without a body for a known version', async () => {
      for (const path of ['/Observation/o1', '/fhir/Observation/o1/_history/1']) {
        const known = await read(path, { 'If-None-Match': 'W/"7", W/"1"' });
        expect([known.status, known.headers.etag, known.body.length]).toEqual([304, 'W/"1"', 0]);
        expect((await read(path, { 'If-None-Match': 'W/"2"' })).status).toBe(200);
        expect((await read(path, { 'If-None-Match': '*' })).status).toBe(304);
      }
    });

    it('return 304 for a resource that did not change since', async () => {
      const { headers } = await read('/Observation/o1');
      const modified = String(headers['last-modified']);
      expect((await read('/Observation/o1', { 'If-Modified-Since': modified })).status).toBe(304);
      const before = new Date(Date.parse(modified) - 1000).toUTCString();
      expect((await read('/Observation/o1', { 'If-Modified-Since': before })).status).toBe(200);
    });

    it('return a newer version, and require caches to revalidate', async () => {
      const path = '/Observation/changing';
      await app.put(path, observation('final'));
      expect((await read(path, { 'If-None-Match': 'W/"1"' })).status).toBe(304);
      await app.put(path, observation('amended'));
      const answer = await read(path, { 'If-None-Match': 'W/"1"' });
      expect([answer.status, answer.headers.etag, answer.headers['cache-control']]).toEqual([
        200,
        'W/"2"',
        'private, no-cache',
      ]);
    });
  });

  describe('Prefer', () => {
    it.each(['minimal', 'representation', 'OperationOutcome'])('return=%s is applied to writes', async (value) => {
      const headers = { Prefer: `handling=lenient, return=${value}` };
      const path = `/Observation/prefer-${value.toLowerCase()}`;
      const answers = [
        await app.post('/Observation', observation('final'), { headers }),
        await app.put(path, observation('final'), { headers }),
        await app.put(path, observation('amended'), { headers }),
        await app.delete(path, { headers }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
      expect(new Set(answers.map((answer) => answer.headers.get('preference-applied')))).toEqual(
        new Set([`return=${value}`]),
      );
      const bodies = answers.map(({ text }) =>
        text === '' ? 'nothing' : (JSON.parse(text) as { resourceType: string }).resourceType,
      );
      const expected = { minimal: 'nothing', representation: 'Observation', OperationOutcome: 'OperationOutcome' }[
        value
      ];
      expect(new Set(bodies)).toEqual(new Set([expected]));
      expect(answers[1]?.headers.get('etag')).toBe('W/"1"');
      expect(answers[0]?.headers.get('location')).toContain('/_history/1');
    });

    it('is not applied to reads, errors, or with other values', async () => {
      const headers = { Prefer: 'return=minimal' };
      expect((await app.get('/Observation/o1', { headers })).text).toContain('"valueQuantity"');
      expect((await app.put('/Observation/o1', '{', { headers })).json()).toMatchObject({
        resourceType: 'OperationOutcome',
      });
      const other = await app.put('/Observation/prefer-other', observation('final'), {
        headers: { Prefer: 'respond-async' },
      });
      expect([other.headers.get('preference-applied'), other.text === '']).toEqual([null, false]);
    });
  });

  describe('_summary and _elements', () => {
    it('return the SUBSETTED part on read and vread', async () => {
      for (const path of ['/Observation/o1', '/fhir/Observation/o1/_history/1']) {
        const summary = (await app.get(`${path}?_summary=true`)).text;
        expect(summary).toContain('"valueQuantity":{"value":1.10,"unit":"1.10"}');
        expect(summary).toContain('"code":"SUBSETTED"');
        expect(summary).not.toContain('note');
        const elements = await app.get(`${path}?_elements=note`);
        expect(Object.keys(elements.json())).toEqual(['resourceType', 'id', 'meta', 'status', 'code', 'note']);
      }
      expect((await app.get('/Observation/o1?_summary=count')).status).toBe(400);
      expect((await app.get('/Observation/o1?_summary=some')).status).toBe(400);
    });
  });

  describe('compression', () => {
    const LONG = {
      ...{ resourceType: 'Basic', id: 'long', code: { text: 'long' } },
      text: {
        status: 'generated',
        div: `<div xmlns="http://www.w3.org/1999/xhtml">${'clinical text é '.repeat(400)}</div>`,
      },
    };

    it('compresses long responses by Accept-Encoding, with the right Content-Length', async () => {
      await app.put('/Basic/long', LONG);
      const plain = await read('/Basic/long');
      expect([plain.headers['content-encoding'], plain.headers['content-length']]).toEqual([
        undefined,
        String(plain.body.length),
      ]);
      for (const [encoding, unpack] of [
        ['gzip', gunzipSync],
        ['br', brotliDecompressSync],
      ] as const) {
        const { headers, body } = await read('/Basic/long', { 'Accept-Encoding': encoding });
        expect([headers['content-encoding'], headers['content-length']]).toEqual([encoding, String(body.length)]);
        expect(headers.vary).toContain('Accept-Encoding');
        expect(unpack(body).equals(plain.body)).toBe(true);
        expect(body.length).toBeLessThan(plain.body.length / 5);
      }
    });

    it('does not compress short responses, 304 and HEAD', async () => {
      const accepting = { 'Accept-Encoding': 'gzip' };
      expect((await read('/Observation/o1', accepting)).headers['content-encoding']).toBeUndefined();
      const known = await read('/Basic/long', { ...accepting, 'If-None-Match': 'W/"1"' });
      expect([known.status, known.headers['content-encoding']]).toEqual([304, undefined]);
      const head = await raw('HEAD', '/Basic/long', accepting);
      const plain = await read('/Basic/long');
      expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
        200,
        String(plain.body.length),
        0,
      ]);
    });

    it('is off with SVC_COMPRESSION=off', async () => {
      const other = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_COMPRESSION: 'off' } });
      const { headers } = await other.get('/metadata', { headers: { 'Accept-Encoding': 'gzip' } });
      await other.close();
      expect(headers.get('content-encoding')).toBeNull();
    });

    it('accepts compressed bodies, and limits their decompressed size', async () => {
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
      expect((await raw('PUT', '/Basic/packed', headers, gzipSync('{"code":{"text":"packed"}}'))).status).toBe(201);
      expect((await app.get('/Basic/packed')).text).toContain('"packed"');
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
      expect(bomb.length).toBeLessThan(100_000);
      expect((await raw('PUT', '/Basic/bomb', headers, bomb)).status).toBe(413);
      expect((await raw('PUT', '/Basic/broken', headers, Buffer.from('no gzip'))).status).toBe(400);
    });
  });

  describe('HEAD', () => {
    it.each([
      '/Observation/o1',
      '/fhir/Observation/o1/_history/1',
      '/Observation?_id=o1',
      '/Observation/o1/_history',
      '/metadata',
    ])('returns for %s the headers of GET, without the body', async (path) => {
      const [head, get] = [await raw('HEAD', path), await read(path)];
      const comparable = ({ status, headers }: RawAnswer): object => ({
        status,
        type: headers['content-type'],
        length: headers['content-length'],
        etag: headers.etag,
      });
      expect(comparable(head)).toEqual(comparable(get));
      expect(head.body.length).toBe(0);
    });

    it('returns 404 for an unknown resource', async () => {
      expect((await raw('HEAD', '/Observation/none')).status).toBe(404);
    });
  });
});
