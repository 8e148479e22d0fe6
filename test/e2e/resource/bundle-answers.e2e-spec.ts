import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../../testing/test-app';

interface AnswerEntry {
  readonly resource?: { readonly resourceType: string };
  readonly response: { readonly status: string; readonly location?: string; readonly lastModified?: string };
}

const put = (id: string, more: object = {}): object => ({
  resource: { resourceType: 'Patient', id, ...more },
  request: { method: 'PUT', url: `Patient/${id}` },
});
const request = (method: string, url: string): object => ({ request: { method, url } });

describe('a response that is a Bundle', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  const send = async (root: string, type: string, ...entry: readonly object[]): Promise<readonly AnswerEntry[]> => {
    const answer = await app.post(root, { resourceType: 'Bundle', type, entry });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json<{ entry: readonly AnswerEntry[] }>().entry;
  };

  it.each([
    ['transaction', '/fhir'],
    ['transaction', '/'],
    ['batch', '/fhir'],
    ['batch', '/'],
  ])('C5: has statuses with their reason phrase, and relative locations: %s on %s', async (type, root) => {
    const id = `c5-${type}-${root === '/' ? 'root' : 'fhir'}`;
    const posted = { resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } };
    const conditional = {
      resource: { resourceType: 'Patient', identifier: [{ value: id }] },
      request: { method: 'PUT', url: `Patient?identifier=${id}` },
    };
    await app.put('/fhir/Patient/c5-deleted', { resourceType: 'Patient' });
    const entries = await send(
      root,
      type,
      put(id),
      posted,
      conditional,
      request('GET', 'Patient?_id=none'),
      request('DELETE', 'Patient/c5-none'),
      request('DELETE', 'Patient/c5-deleted'),
    );
    expect(entries.map(({ response }) => response.status)).toEqual([
      ...['201 Created', '201 Created', '201 Created', '200 OK', '204 No Content', '200 OK'],
    ]);
    expect(entries[0]?.response.location).toBe(`Patient/${id}/_history/1`);
    for (const { response } of entries.slice(1, 3)) expect(response.location).toMatch(/^Patient\/[\w-]+\/_history\/1$/);
    const second = await send(root, type, put(id, { active: true }));
    expect(second.map(({ response }) => response.status)).toEqual(['200 OK']);
  });

  it.each(['return=minimal', 'return=representation'])(
    'has in lastModified the instant of meta.lastUpdated (%s)',
    async (prefer) => {
      const one = async (type: string, entry: object): Promise<string | undefined> => {
        const answer = await app.post(
          '/fhir',
          { resourceType: 'Bundle', type, entry: [entry] },
          { headers: { Prefer: prefer } },
        );
        return answer.json<{ entry: readonly AnswerEntry[] }>().entry[0]?.response.lastModified;
      };
      const patch = { resourceType: 'Parameters', parameter: [] };
      for (const type of ['batch', 'transaction']) {
        for (const entry of [
          put(`instant-${type}`, { active: prefer === 'return=minimal' }),
          request('GET', `Patient/instant-${type}`),
          { resource: patch, request: { method: 'PATCH', url: `Patient/instant-${type}` } },
        ]) {
          const shown = await one(type, entry);
          const { meta } = (await app.get(`/fhir/Patient/instant-${type}`)).json<{ meta: { lastUpdated: string } }>();
          expect(shown).toBe(meta.lastUpdated);
        }
      }
    },
  );

  it('C5: has the reason phrase of each refusal in a batch', async () => {
    const entries = await send('/fhir', 'batch', request('GET', 'Patient/c5-never'), put('c5-bad', { gender: 'm' }));
    expect(entries.map(({ response }) => response.status)).toEqual(['404 Not Found', '422 Unprocessable Entity']);
  });

  it('C5: has statuses with their reason phrase in a history', async () => {
    await app.put('/fhir/Patient/c5-history', { resourceType: 'Patient' });
    await app.put('/fhir/Patient/c5-history', { resourceType: 'Patient', active: true });
    const { entry } = (await app.get('/fhir/Patient/c5-history/_history')).json<{ entry: readonly AnswerEntry[] }>();
    expect(entry.map(({ response }) => response.status)).toEqual(['200 OK', '201 Created']);
  });

  describe('C12.8: without an entry has no "entry" member:', () => {
    beforeAll(async () => {
      await app.put('/fhir/Patient/alone', { resourceType: 'Patient' });
    });

    it.each([
      ['a search', '/fhir/Basic?_id=none'],
      ['a search for only the total', '/fhir/Patient?_summary=count'],
      ['a search over types', '/fhir?_type=Basic,Flag'],
      ['a search in a compartment', '/fhir/Patient/alone/Observation'],
      ['a history', '/fhir/Basic/_history'],
      ['$everything', '/fhir/Patient/alone/$everything?_type=Observation'],
      ['$everything as a stream', '/fhir/Patient/alone/$everything?_type=Observation&_include=*'],
      ['a page of $everything', '/fhir/Patient/alone/$everything?_type=Observation&_count=5'],
      ['the total of $everything', '/fhir/Patient/alone/$everything?_summary=count'],
    ])('%s', async (_, path) => {
      const answer = await app.get(path);
      expect([answer.status, answer.json().resourceType]).toEqual([200, 'Bundle']);
      expect('entry' in answer.json()).toBe(false);
      await expectValid(answer.json());
    });

    it.each(['transaction', 'batch'])('a %s', async (type) => {
      const answer = await app.post('/fhir', { resourceType: 'Bundle', type });
      expect(answer.json()).toEqual({ resourceType: 'Bundle', type: `${type}-response` });
      await expectValid(answer.json());
    });

    it('a search in a batch', async () => {
      const [entry] = await send('/fhir', 'batch', request('GET', 'Basic?_id=none'));
      expect(entry?.resource?.resourceType).toBe('Bundle');
      expect('entry' in (entry?.resource ?? {})).toBe(false);
    });

    async function expectValid(bundle: object): Promise<void> {
      const outcome = (await app.post('/fhir/Bundle/$validate', bundle)).json<{ issue: { severity: string }[] }>();
      expect(outcome.issue.map(({ severity }) => severity)).toEqual(['information']);
    }
  });
});
