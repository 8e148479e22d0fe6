import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Client } from 'pg';
import { maskQueriesOfEndpoints } from '../../../src/platform/database/migrations/1795000000300-mask-queries-of-endpoints';
import { RequestContext } from '../../../src/platform/request/request-context';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { delivered, destination, newDestination, newName, newTopic } from '../../support/destinations';
import { eventually } from '../../../testing/eventually';
import { basicHeader, type Sent, startTestApp, type TestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const JSON_PATCH = { headers: { 'Content-Type': 'application/json-patch+json' } };

describe('S9: the query of an endpoint', () => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let database: Client;
  let reader: Sent;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'all' } });
    receiver = await WebhookReceiver.start();
    database = await app.connect();
    await app.put('/Client/reader', { secret: 'secret-of-a-reader', grant_types: ['basic'] });
    const link = [{ resourceType: 'Client', id: 'reader' }];
    await app.post('/AccessPolicy', { engine: 'matcho', matcho: { 'request-method': 'get' }, link });
    reader = { authorization: basicHeader('reader', 'secret-of-a-reader') };
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await app.close();
    await receiver.stop();
  });

  const at = (query: string): string => `${receiver.url}?${query}`;
  const put = (id: string, topic: string, url: string) =>
    app.put(`/SvcTopicDestination/${id}`, destination(topic, { id, enableLogging: true }, url));
  const write = () => app.put(`/Patient/${newName()}`, { resourceType: 'Patient' });
  const endpointIn = (text: string): string | undefined =>
    (JSON.parse(text) as { parameter: { name: string; valueUrl?: string }[] }).parameter.find(
      ({ name }) => name === 'endpoint',
    )?.valueUrl;

  /** All rows of all tables as text, with sealed columns in hexadecimal. */
  async function allRows(): Promise<string> {
    const { rows } = await database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    const texts: string[] = [];
    for (const { name } of rows) {
      const found = await database.query<{ text: string | null }>(
        `select string_agg(t::text, '') as text from "${name}" t`,
      );
      texts.push(found.rows[0]?.text ?? '');
    }
    return texts.join('');
  }

  it('is sent unchanged, and shown only to callers who may update the destination', async () => {
    const lines: string[] = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    app.app.useLogger(new ContextLogger('verbose', app.app.get(RequestContext)));
    const topic = await newTopic(app);
    const watcher = await WebhookReceiver.start();
    const watching = await newDestination(
      app,
      destination(await newTopic(app, { resource: 'SvcTopicDestination' }), {}, watcher.url),
    );
    const id = newName();
    const stored = await put(id, topic, at('key=geheim&geheim'));
    expect([stored.status, endpointIn(stored.text)]).toEqual([201, at('key=geheim&geheim')]);
    expect(endpointIn((await app.get(`/SvcTopicDestination/${id}`)).text)).toBe(at('key=geheim&geheim'));
    receiver.next({ kind: 'answer', status: 500 });
    await write();
    await delivered(app, id, 1);
    expect(new URL(receiver.request(1).path, receiver.url).search).toBe('?key=geheim&geheim');
    await eventually('the other destination gets it', () =>
      watcher.requests.some(({ body }) => body.includes(receiver.url)),
    );
    const notifications = watcher.requests.map(({ body }) => body);
    expect(notifications.join()).toContain('?key=***&***');
    await app.delete(`/SvcTopicDestination/${watching}`);
    await watcher.stop();
    // Only the answer to the test delivery may contain the query that was sent with it.
    const tried = await app.post(
      `/SvcTopicDestination/${id}/$test?endpoint=${encodeURIComponent('http://127.0.0.1:9/?geheim')}`,
      '',
    );
    expect(tried.status).toBe(200);
    const path = `/SvcTopicDestination/${id}`;
    const texts = await Promise.all(
      [
        ...[path, `${path}/_history`, `${path}/_history/1`, `${path}/$status`, `${path}/$events`],
        ...['/SvcTopicDestination', '/SvcTopicDestination/_history', `/SvcTopicDestination?.parameter.0.valueUrl=x`],
        ...['/AuditEvent?_count=1000', `/SvcTopicDestination?_explain=1&_id=${id}`],
      ].map(async (read) => (await app.get(read, reader)).text),
    );
    expect(endpointIn(texts[0] ?? '')).toBe(at('key=***&***'));
    for (const search of ['_content=geheim', '_filter=topic sw "geheim"', '.parameter.0.valueUrl$contains=geheim'])
      expect((await app.get(`/SvcTopicDestination?${search}`, reader)).text).not.toContain(`"id":"${id}"`);
    texts.push((await put(newName(), topic, `${at('key=geheim')}#x`)).text);
    app.app.useLogger(new ContextLogger('error', app.app.get(RequestContext)));
    expect(
      [...texts, ...notifications, await allRows(), ...lines]
        .filter((text) => text.includes('geheim'))
        .map((text) => text.slice(0, 300)),
    ).toEqual([]);
    expect(lines.join('')).toContain('delivery attempt');
  });

  it('is kept when its masked form is sent back, and changes only by a new value', async () => {
    const id = newName();
    const topic = await newTopic(app);
    const versions = [
      await put(id, topic, at('key=geheim')),
      await put(id, topic, at('key=***')),
      await put(id, topic, at('key=geheim')),
      await put(id, topic, at('key=other')),
      await app.put(
        `/SvcTopicDestination/${id}`,
        (await app.get(`/SvcTopicDestination/${id}/_history/1`, reader)).text,
      ),
      await app.send('PATCH', `/SvcTopicDestination/${id}`, {
        ...JSON_PATCH,
        ...{ body: [{ op: 'add', path: '/content', value: 'id-only' }] as object },
      }),
    ];
    expect(versions.map(({ headers }) => headers.get('etag'))).toEqual(
      ['1', '1', '1', '2', '2', '3'].map((version) => `W/"${version}"`),
    );
    const before = receiver.requests.length;
    await write();
    await delivered(app, id, 1);
    const paths = receiver.requests.slice(before).map((request) => new URL(request.path, receiver.url).search);
    expect(paths).toContain('?key=other');
  });

  it.each([
    ['without a stored value', undefined, 'http://127.0.0.1:9/?key=***'],
    ['for another host', 'http://127.0.0.1:9/?key=geheim', 'http://127.0.0.2:9/?key=***'],
    ['for another name', 'http://127.0.0.1:9/?key=geheim', 'http://127.0.0.1:9/?token=***'],
  ])('is refused as a mask %s, without showing the value', async (_what, first, url) => {
    const id = newName();
    if (first !== undefined) expect((await put(id, 'http://t.example', first)).status).toBe(201);
    const answer = await put(id, 'http://t.example', url);
    expect([answer.status, answer.text.includes('Send the value'), answer.text.includes('geheim')]).toEqual([
      422,
      true,
      false,
    ]);
  });

  describe('that version 0.1.0 stored unencrypted', () => {
    const migrated = async (): Promise<void> => {
      for (const text of maskQueriesOfEndpoints.statements) await database.query(text);
    };
    /** Stores two versions in the form of 0.1.0, which contained the query. */
    async function storedByOld(topic: string, url: string): Promise<string> {
      const id = newName();
      const masked = JSON.stringify(url.replace(/=[^&]*/g, '=***'));
      expect((await put(id, topic, url)).status).toBe(201);
      await app.put(`/SvcTopicDestination/${id}`, { ...destination(topic, { content: 'id-only' }, url), id });
      await database.query('set session_replication_role = replica');
      for (const table of ['resource', 'resource_history'])
        await database.query(`update ${table} set body = replace(body, $1, $2) where id = $3`, [
          masked,
          JSON.stringify(url),
          id,
        ]);
      await database.query('reset session_replication_role');
      expect((await bodies(id)).every((body) => body.includes(JSON.stringify(url)))).toBe(true);
      return id;
    }
    const bodies = async (id: string): Promise<string[]> =>
      (
        await database.query<{ body: string }>(
          `select body from resource where id = $1 union all select body from resource_history where id = $1 and body is not null`,
          [id],
        )
      ).rows.map(({ body }) => body);

    it('is removed from all versions, and nothing else changes', async () => {
      const topic = await newTopic(app);
      const url = at('key="altgeheim&b=c=altgeheim&&x=');
      const ids = [await storedByOld(topic, url), await storedByOld(topic, at('k=altgeheim'))];
      const plain = newName();
      await put(plain, topic, receiver.url);
      const before = [await bodies(ids[0] ?? ''), await bodies(plain)];
      const others = await database.query(
        `select md5(string_agg(body, '' order by type, id)) from resource where id <> all($1)`,
        [ids],
      );
      await migrated();
      expect(before[0]).toHaveLength(2);
      expect(await bodies(ids[0] ?? '')).toEqual(
        before[0]?.map((body) => body.replace(JSON.stringify(url), JSON.stringify(at('key=***&b=***&&x=***')))),
      );
      expect(await bodies(plain)).toEqual(before[1]);
      expect(
        (
          await database.query(`select md5(string_agg(body, '' order by type, id)) from resource where id <> all($1)`, [
            ids,
          ])
        ).rows,
      ).toEqual(others.rows);
      expect((await allRows()).includes('altgeheim')).toBe(false);
      await expect(database.query('delete from resource_history')).rejects.toThrow('append-only');
      // The settings contain the value of the query. The server delivers with it, shows it to callers who may update
      // the destination, and keeps it when a write contains the masked form.
      const [id = ''] = ids;
      expect(endpointIn((await app.get(`/SvcTopicDestination/${id}`)).text)).toContain('altgeheim');
      expect((await put(id, topic, at('key=***&b=***&&x=***'))).headers.get('etag')).toBe('W/"3"');
      const sent = receiver.requests.length;
      await write();
      await delivered(app, id, 1);
      expect(
        receiver.requests
          .slice(sent)
          .map(({ path }) => path)
          .join(),
      ).toContain('altgeheim');
      await migrated();
      expect((await bodies(id)).join()).not.toContain('altgeheim');
    });
  });
});
