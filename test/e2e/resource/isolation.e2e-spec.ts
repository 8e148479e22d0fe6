import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { TransactionConflict } from '../../../src/platform/database/database-error';
import { Statements } from '../../../src/platform/database/statements';
import { OnResourceChange, type ResourceChangeListener } from '../../../src/resource/hooks/resource-change';
import { type Bundle } from '../../support/bundle';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const LEVELS = ['serializable', 'repeatable-read', 'read-committed'] as const;
const HEADER = 'x-max-isolation-level';

interface Outcome {
  readonly issue: readonly { readonly code: string; readonly diagnostics: string }[];
}

/** Records the isolation level of each transaction that writes a Basic, or makes all of them conflict. */
@Injectable()
@OnResourceChange({ types: ['Basic'] })
class LevelListener implements ResourceChangeListener {
  static readonly seen: unknown[] = [];
  static isConflicting = false;

  constructor(private readonly statements: Statements) {}

  async onChange(): Promise<void> {
    const shown = await this.statements.runOne({ name: 'spec-level', text: 'show transaction_isolation' }, []);
    LevelListener.seen.push(String(shown?.transaction_isolation).replace(' ', '-'));
    if (LevelListener.isConflicting) throw new TransactionConflict('The spec says so');
  }
}

@Module({ providers: [LevelListener] })
class LevelModule {}

const basic = (text: string): object => ({ resourceType: 'Basic', code: { text } });
const bundle = (type: string, ...requests: object[]): object => ({
  resourceType: 'Bundle',
  type,
  entry: requests.map((request) => ({ request, resource: basic(JSON.stringify(request)) })),
});

describe('x-max-isolation-level', () => {
  let app: TestApp;
  let other: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [LevelModule] });
    other = await startTestApp({ databaseUrl: app.databaseUrl, modules: [LevelModule] });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });
  afterEach(() => {
    LevelListener.seen.length = 0;
    LevelListener.isConflicting = false;
  });

  const send = (method: string, path: string, level: string | undefined, body?: object): Promise<Received> =>
    app.send(method, path, {
      ...(body === undefined ? {} : { body }),
      ...(level === undefined ? {} : { headers: { [HEADER]: level } }),
    });

  describe.each([...LEVELS, undefined])('%s', (level) => {
    const name = level ?? 'none';

    it.each([
      ['POST', '/fhir/Basic', basic('new')],
      ['PUT', `/fhir/Basic/${name}`, basic('put')],
      ['PUT', `/fhir/Basic/${name}`, basic('replaced')],
      ['PATCH', `/fhir/Basic/${name}`, { language: 'de' }],
      ['DELETE', `/fhir/Basic/${name}`, undefined],
      ['POST', `/fhir/Basic?identifier=${name}-1`, basic('created')],
      ['PUT', `/fhir/Basic?identifier=${name}-2`, { ...basic('updated'), identifier: [{ value: `${name}-2` }] }],
      ['PATCH', `/fhir/Basic?identifier=${name}-2`, { language: 'de' }],
      ['DELETE', `/fhir/Basic?identifier=${name}-2`, undefined],
      ['POST', '/fhir', bundle('transaction', { method: 'POST', url: 'Basic' })],
      ['POST', '/', bundle('batch', { method: 'POST', url: 'Basic' })],
      ['POST', '/', bundle('batch', { method: 'PUT', url: `Basic?identifier=${name}-3` })],
    ])('is applied to %s %s', async (method, path, body) => {
      expect((await send(method, path, level, body)).status).toBeLessThan(300);
      expect(LevelListener.seen).toEqual([level ?? 'read-committed']);
    });

    it('stores exactly one resource for sixteen concurrent conditional creates, on two servers, half without the header', async () => {
      const body = { ...basic('race'), identifier: [{ value: `race-${name}` }] };
      const sent = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          (n % 4 < 2 ? app : other).post('/fhir/Basic', body, {
            headers: {
              'If-None-Exist': `identifier=race-${name}`,
              ...(n % 2 === 0 && level !== undefined ? { [HEADER]: level } : {}),
            },
          }),
        ),
      );
      const count = (status: number): number => sent.filter((answer) => answer.status === status).length;
      expect(count(201)).toBe(1);
      // 412: all tries had serialization conflicts.
      expect(count(200) + count(412)).toBe(15);
      expect((await app.get(`/fhir/Basic?identifier=race-${name}`)).json<Bundle>().total).toBe(1);
    });

    it('creates versions without a gap for sixteen concurrent writers of one new id, with their history', async () => {
      const path = `/fhir/Basic/versions-${name}`;
      const sent = await Promise.all(
        Array.from({ length: 16 }, (_, n) =>
          (n % 2 === 0 ? app : other).put(path, basic(`${n}`), {
            headers: level === undefined ? {} : { [HEADER]: level },
          }),
        ),
      );
      const written = sent.filter(({ status }) => status < 300).map(({ headers }) => headers.get('etag'));
      expect(new Set(sent.map(({ status }) => status).filter((status) => status >= 300 && status !== 412))).toEqual(
        new Set(),
      );
      expect(written.sort()).toEqual(Array.from(written, (_, n) => `W/"${n + 1}"`).sort());
      expect((await app.get(`${path}/_history`)).json<Bundle>().total).toBe(written.length);
    });
  });

  it('lets a serializable transaction read its own writes', async () => {
    const entries = [
      { method: 'PUT', url: 'Basic/state' },
      { method: 'GET', url: 'Basic/state' },
    ];
    const answer = await send('POST', '/fhir', 'serializable', bundle('transaction', ...entries));
    expect(
      answer.json<{ entry: { response: { status: string } }[] }>().entry.map(({ response }) => response.status),
    ).toEqual(['201 Created', '200 OK']);
  });

  it.each(['serializable', 'repeatable-read'])('returns 412 for a serialization failure at %s', async (level) => {
    LevelListener.isConflicting = true;
    const refused = await send('POST', '/fhir/Basic', level, basic('refused'));
    expect([refused.status, refused.json<Outcome>().issue[0]?.code]).toEqual([412, 'conflict']);
    expect(refused.json<Outcome>().issue[0]?.diagnostics).toMatch(
      new RegExp(`5 times at isolation level ${level}.*again`),
    );
    expect(LevelListener.seen).toHaveLength(5);
  });

  it('returns 503 with Retry-After for a serialization failure without the header', async () => {
    LevelListener.isConflicting = true;
    const refused = await send('POST', '/fhir/Basic', undefined, basic('refused'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it.each(['', 'snapshot', 'read uncommitted', 'serializable, read-committed'])('refuses "%s"', async (level) => {
    for (const [method, path] of [
      ['POST', '/fhir/Basic'],
      ['PUT', '/fhir/Basic/none'],
      ['PATCH', '/fhir/Basic/none'],
      ['DELETE', '/fhir/Basic/none'],
      ['DELETE', '/fhir/Basic?_id=none'],
      ['POST', '/fhir'],
    ] as const) {
      const refused = await send(method, path, level, method === 'DELETE' ? undefined : basic('refused'));
      expect([method, path, refused.status]).toEqual([method, path, 400]);
      expect(refused.json<Outcome>().issue[0]?.diagnostics).toBe(
        'x-max-isolation-level must be one of serializable, repeatable-read, read-committed.',
      );
    }
  });

  it('is ignored for reads', async () => {
    expect((await send('GET', '/fhir/Basic', 'snapshot')).status).toBe(200);
    expect((await send('GET', '/fhir/Basic/never', 'snapshot')).status).toBe(404);
  });
});
