import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { eventually } from '../../../testing/eventually';
import { ROOT, startTestApp, type TestApp } from '../../../testing/test-app';

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry: readonly {
    readonly fullUrl?: string;
    readonly resource?: { readonly id: string; readonly meta: { readonly versionId: string } } & Partial<Bundle>;
    readonly response: { readonly status: string; readonly outcome?: object };
  }[];
}

/** The number of long resources. They have 1 MB each, so 22 MB together: more than a page holds. */
const LONG = 22;
const DATA = Buffer.alloc(750_000, 7).toString('base64');

const linkOf = ({ link }: Pick<Bundle, 'link'>, relation: string): string | undefined =>
  link.find((one) => one.relation === relation)?.url;
const binary = (id: string, data = DATA): object => ({ resourceType: 'Binary', id, contentType: 'x/y', data });
const bundleOf = (type: string, ...entry: readonly object[]): object => ({ resourceType: 'Bundle', type, entry });
const put = (resource: { readonly id?: string; readonly resourceType?: string }): object => ({
  resource,
  request: { method: 'PUT', url: `${resource.resourceType ?? ''}/${resource.id ?? ''}` },
});
const get = (url: string): object => ({ request: { method: 'GET', url } });

describe('long responses', () => {
  let app: TestApp;
  const ids = Array.from({ length: LONG }, (_, n) => `long-${n}`);

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_STREAM_STALL_SECONDS: '1' } });
    for (let at = 0; at < LONG; at += 11)
      await app.post('/fhir', bundleOf('batch', ...ids.slice(at, at + 11).map((id) => put(binary(id)))));
  });
  afterAll(() => app.close());

  const page = async (path: string): Promise<Bundle> => {
    const answer = await app.get(path);
    expect(answer.status).toBe(200);
    return answer.json<Bundle>();
  };

  /** The ids of all pages, starting with `path`. */
  const walk = async (path: string, relation: string): Promise<{ ids: string[]; sizes: number[]; last: Bundle }> => {
    const found: string[] = [];
    const sizes: number[] = [];
    let next: string | undefined = path;
    let last: Bundle | undefined;
    while (next !== undefined && sizes.length < 10) {
      last = await page(next);
      expect([undefined, LONG]).toContain(last.total);
      const some = last.entry.map(({ resource }) => resource?.id ?? '');
      found.push(...(relation === 'next' ? some : some.toReversed()));
      sizes.push(some.length);
      next = linkOf(last, relation);
    }
    if (last === undefined) throw new Error('There was no page');
    return { ids: found, sizes, last };
  };

  describe('S6: a page that would be too long ends early', () => {
    it.each([
      ['a search', '/fhir/Binary?_count=30'],
      ['a sorted search', '/fhir/Binary?_count=30&_sort=_id'],
      ['a numbered page', '/fhir/Binary?_count=30&_page=1'],
      ['a search over types', '/fhir?_type=Binary,Flag&_count=30'],
      ['a history', '/fhir/Binary/_history?_count=30'],
    ])('%s: all pages together have all resources, with the total', async (_, path) => {
      const found = await walk(path, 'next');
      expect(found.sizes.length).toBeGreaterThan(1);
      expect([...found.ids].sort()).toEqual([...ids].sort());
    });

    it.each(['/fhir/Binary?_count=30', '/fhir/Binary/_history?_count=30'])(
      '%s: also by previous links',
      async (path) => {
        const forth = await walk(path, 'next');
        const back = await walk(linkOf(forth.last, 'previous') ?? '', 'previous');
        const others = forth.ids.slice(0, LONG - forth.last.entry.length);
        expect(back.ids.toReversed()).toEqual(others);
      },
    );

    it('an array: the Link header has the next page', async () => {
      const answer = await app.get('/fhir/Binary?_count=30&_result=array');
      const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? '';
      const rest = await app.get(next);
      const all = [...answer.json<{ id: string }[]>(), ...rest.json<{ id: string }[]>()];
      expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
    });
  });

  it('S6: shows the versions at the time of the search, even if they change while it is sent', async () => {
    const response = await begin(app.url, '/fhir/Binary?_count=10&_sort=_id');
    const id = 'long-17';
    await app.put(`/fhir/Binary/${id}`, binary(id, 'bmV3'));
    const { entry } = JSON.parse(await rest(response)) as Bundle;
    expect(entry.find(({ resource }) => resource?.id === id)?.resource?.meta.versionId).toBe('1');
    await app.put(`/fhir/Binary/${id}`, binary(id));
  });

  it.each([
    ['_pretty', '_pretty=true', (text: string) => JSON.parse(text) as Bundle],
    ['YAML', '_format=yaml', (text: string) => load(text) as Bundle],
  ])('S6: a page with %s is sent in chunks', async (_, parameter, read) => {
    const [plain, printed] = [
      await app.get('/fhir/Binary?_count=5'),
      await app.get(`/fhir/Binary?_count=5&${parameter}`),
    ];
    expect(read(printed.text).entry).toEqual(plain.json<Bundle>().entry);
  });

  it('S6: never splits surrogate pairs', async () => {
    const text = `x${'\u{1F600}'.repeat(50_000)}`;
    await app.put('/fhir/Basic/smile', { resourceType: 'Basic', id: 'smile', code: { text } });
    for (const encoding of ['identity', 'gzip', 'br']) {
      const answer = await app.get('/fhir/Basic/smile', { headers: { 'Accept-Encoding': encoding } });
      expect(answer.json<{ code: { text: string } }>().code.text).toBe(text);
    }
  });

  describe('S6: the reads of a Bundle', () => {
    const reads = Array.from({ length: 5 }, () => get('Binary?_count=30'));

    it('that are too long together refuse a transaction', async () => {
      const answer = await app.post('/fhir', bundleOf('transaction', ...reads));
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Bundle.entry[4]')]);
    });

    it('that are too long together roll back what a transaction has written', async () => {
      const answer = await app.post(
        '/fhir',
        bundleOf('transaction', put({ resourceType: 'Patient', id: 'undone' }), ...reads),
      );
      // On a busy machine, the limit of 2 s for reads beside writes is reached first. Both limits must roll back.
      expect([422, 504]).toContain(answer.status);
      expect(answer.text).toMatch(/Bundle\.entry\[5\]|took longer than 2 s/);
      expect((await app.get('/fhir/Patient/undone')).status).toBe(404);
    });

    it('that are too long are refused in their entries of a batch', async () => {
      const answer = await app.post(
        '/fhir',
        bundleOf('batch', ...reads, put({ resourceType: 'Patient', id: 'stored' }), get('Basic/smile')),
      );
      expect(answer.status).toBe(200);
      expect(answer.json<Bundle>().entry.map(({ response }) => response.status.slice(0, 3))).toEqual([
        ...['200', '200', '200', '200', '422', '201', '200'],
      ]);
    });
  });

  it('S10: a page, a history and a batch are aborted if the client does not read', async () => {
    const responses = await Promise.all([
      begin(app.url, '/fhir/Binary?_count=16'),
      begin(app.url, '/fhir/Binary/_history?_count=16'),
      begin(app.url, '/fhir', bundleOf('batch', get('Binary?_count=16'))),
    ]);
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    await delay(2_500);
    // The client still receives the data that the sockets in between hold, and then the connection ends.
    for (const response of responses) await expect(rest(response)).rejects.toThrow('aborted');
  });

  it('S6: refuses a transaction that changes more than memory allows', async () => {
    const database = await app.connect();
    await database.query(
      `update resource set body = replace(body, '"data":"', '"data":"' || repeat('AAAA', 750000)) where type = 'Binary'`,
    );
    await database.end();
    const deletions = ids.map((id) => ({ request: { method: 'DELETE', url: `Binary/${id}` } }));
    const answer = await app.post('/fhir', bundleOf('transaction', ...deletions));
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Send it in parts.')]);
    expect((await app.get('/fhir/Binary?_summary=count')).json<Bundle>().total).toBe(LONG);
  });
});

describe('the memory budget', () => {
  let app: TestApp;

  beforeAll(async () => {
    // A caller may use half of the memory budget: two answers of 14 MB.
    app = await startTestApp({
      environment: { SVC_MEMORY_BUDGET_BYTES: String(64 * 1024 * 1024), SVC_STREAM_STALL_SECONDS: '2' },
    });
    await app.put('/fhir/Binary/one', binary('one', 'AAAA'));
    const database = await app.connect();
    await database.query(`update resource set body = replace(body, 'AAAA', repeat('AAAA', 3500000)) where id = 'one'`);
    await database.end();
  });
  afterAll(() => app.close());

  it('S10: is shared by unread responses: beyond it others get 503, until unread ones are aborted', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => begin(app.url, '/fhir/Binary/one')));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 503]));
    for (const { statusCode, headers } of answers) if (statusCode === 503) expect(headers['retry-after']).toBe('2');
    expect((await app.get('/fhir/Binary/one?_elements=id')).status).toBe(200);
    await eventually('readers are cut off', async () => (await app.get('/fhir/Binary/one')).status === 200);
    for (const answer of answers) answer.destroy();
  });
});

/** Reads only the head of a response. */
async function begin(url: string, path: string, sent?: object): Promise<IncomingMessage> {
  const request = httpRequest(`${url}${path}`, {
    method: sent === undefined ? 'GET' : 'POST',
    headers: { Authorization: ROOT, 'Content-Type': 'application/json' },
    agent: false,
  });
  request.end(sent === undefined ? undefined : JSON.stringify(sent));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.on('error', () => undefined);
}

async function rest(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
