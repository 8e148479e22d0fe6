import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, type Sent, startTestApp, type TestApp } from '../../../testing/test-app';
import { transactionOn } from '../../support/bundle';

type Answered = readonly { readonly status: string; readonly etag?: string; readonly lastModified?: string }[];

const basic = (text: string, more: object = {}): object => ({ resourceType: 'Basic', code: { text }, ...more });
const write = (method: string, url: string, resource?: object, more: object = {}): object => ({
  ...(resource === undefined ? {} : { resource }),
  request: { method, url, ...more },
});
const patchOf = (change: object): object => ({
  resourceType: 'Binary',
  contentType: 'application/merge-patch+json',
  data: Buffer.from(JSON.stringify(change)).toString('base64'),
});

describe('H4: a transaction of writes', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_REFERENCE_CHECK: 'on' } });
    await app.put('/fhir/Basic/stored', basic('stored'));
    await app.put('/fhir/Basic/deleted', basic('deleted'));
    await app.delete('/fhir/Basic/deleted');
  });
  afterAll(() => app.close());

  const transact = (...entry: readonly object[]): Promise<Received> => transactionOn(app, entry);
  const answered = (answer: Received): Answered =>
    answer.json<{ entry: readonly { response: Answered[number] }[] }>().entry.map(({ response }) => response);
  const diagnosticsOf = (answer: Received): string =>
    answer.json<{ issue: readonly { diagnostics: string }[] }>().issue[0]?.diagnostics ?? '';

  it.each<[string, string, string, object | undefined, Sent['headers'], object]>([
    ['a create with a duplicate id', 'POST', 'Basic', basic('x', { id: 'stored' }), {}, {}],
    ['If-Match with another version', 'PUT', 'Basic/stored', basic('x'), { 'If-Match': 'W/"7"' }, { ifMatch: 'W/"7"' }],
    ['If-Match on an unknown id', 'PUT', 'Basic/none', basic('x'), { 'If-Match': 'W/"1"' }, { ifMatch: 'W/"1"' }],
    [
      'If-None-Match: * on a stored id',
      'PUT',
      'Basic/stored',
      basic('x'),
      { 'If-None-Match': '*' },
      { ifNoneMatch: '*' },
    ],
    ['a deletion of another version', 'DELETE', 'Basic/stored', undefined, { 'If-Match': '"7"' }, { ifMatch: '"7"' }],
    ['If-Match, if nothing matches', 'DELETE', 'Basic?code=none', undefined, { 'If-Match': '"7"' }, { ifMatch: '"7"' }],
    ['a patch of an unknown id', 'PATCH', 'Basic/none', { active: true }, {}, {}],
    ['a patch of a deleted resource', 'PATCH', 'Basic/deleted', { active: true }, {}, {}],
    [
      'a conditional reference without a match',
      'PUT',
      'Basic/stored',
      basic('x', { subject: { reference: 'Patient/none' } }),
      {},
      {},
    ],
  ])('refuses %s as a single write does', async (_what, method, url, body, headers, conditions) => {
    const isPatch = method === 'PATCH';
    const alone = await app.send(method, `/fhir/${url}`, {
      ...(body === undefined ? {} : { body }),
      headers: { ...headers, ...(isPatch ? { 'Content-Type': 'application/merge-patch+json' } : {}) },
    });
    const resource = isPatch && body !== undefined ? patchOf(body) : body;
    const other = write('PUT', 'Basic/beside', basic('beside'));
    const together = await transact(other, write(method, url, resource, conditions));
    expect([together.status, diagnosticsOf(together)]).toEqual([
      alone.status,
      `Bundle.entry[1]: ${diagnosticsOf(alone)}`,
    ]);
    expect((await app.get('/fhir/Basic/beside')).status).toBe(404);
  });

  it('writes the match of a condition once for each entry with it', async () => {
    await app.put('/fhir/Basic/found', basic('0', { identifier: [{ value: 'found' }] }));
    const entries = ['1', '2', '3'].map((text) =>
      write('PUT', 'Basic?identifier=found', basic(text, { identifier: [{ value: 'found' }] })),
    );
    const answer = await transact(...entries, write('PATCH', 'Basic?identifier=found', patchOf({ author: null })));
    expect(answered(answer).map(({ status, etag }) => [status, etag])).toEqual([
      ['200 OK', 'W/"2"'],
      ['200 OK', 'W/"3"'],
      ['200 OK', 'W/"4"'],
      ['200 OK', 'W/"4"'],
    ]);
  });

  it('allows a patch with a reference to a resource that an earlier or later entry creates', async () => {
    await app.put('/fhir/Basic/patched', basic('patched'));
    const patch = (id: string): object =>
      write('PATCH', 'Basic/patched', patchOf({ subject: { reference: `Patient/${id}` } }));
    const put = (id: string): object => write('PUT', `Patient/${id}`, { resourceType: 'Patient' });
    expect((await transact(patch('behind'), put('behind'))).status).toBe(200);
    expect((await transact(put('before'), patch('before'))).status).toBe(200);
    expect((await transact(patch('nowhere'))).status).toBe(422);
  });

  it('patches a resource that it wrote, but not one that it deleted', async () => {
    const put = write('PUT', 'Basic/both', basic('both'));
    const patch = write('PATCH', 'Basic/both', patchOf({ code: { text: 'patched' } }));
    expect(answered(await transact(put, patch)).map(({ etag }) => etag)).toEqual(['W/"1"', 'W/"2"']);
    const gone = await transact(write('DELETE', 'Basic/both'), patch);
    expect([gone.status, diagnosticsOf(gone)]).toEqual([410, expect.stringMatching(/^Bundle\.entry\[1\]: /)]);
    expect((await app.get('/fhir/Basic/both')).json()).toMatchObject({ code: { text: 'patched' } });
  });

  it('returns version and time of a deletion, even after other writes of the same id', async () => {
    const [put, deletion] = answered(
      await transact(write('PUT', 'Basic/short', basic('short')), write('DELETE', 'Basic/short')),
    );
    expect([put?.etag, deletion?.etag]).toEqual(['W/"1"', 'W/"2"']);
    const { entry } = (await app.get('/fhir/Basic/short/_history')).json<{
      entry: readonly { response: { lastModified: string } }[];
    }>();
    expect(deletion?.lastModified).toBe(entry[0]?.response.lastModified);
  });
});
