import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { Statements } from '../../../src/platform/database/statements';
import { FORGET_OLDEST } from '../../../src/rpc/repeats/kept-call-statements';
import { HeldTrigger } from '../../support/held-trigger';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

const user = { id: 'doc-1', resourceType: 'User' };

describe('U4: calls of /rpc with an Idempotency-Key', () => {
  let app: TestApp;
  let replica: TestApp;
  let database: Client;
  let nurse: Person;
  let numbers = 0;

  beforeAll(async () => {
    app = await startTestApp();
    replica = await startTestApp({ databaseUrl: app.databaseUrl });
    database = await app.connect();
    nurse = await login(app, 'nurse');
  });
  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  const newKey = (): string => `"key-${++numbers}"`;
  async function newTarget(status = 'completed'): Promise<{ id: string; resourceType: string }> {
    const target = { id: `t-${++numbers}`, resourceType: 'SDCDocument' };
    await app.put(`/SDCDocument/${target.id}`, { ...target, status });
    return target;
  }
  const noteOn = (target: object, text = 'Seated.'): object => ({
    method: 'svc.sdc.addendum/add-note',
    params: { target, user, text },
  });
  const send = (
    key: string,
    body: object,
    { on = app, authorization }: { on?: TestApp; authorization?: string } = {},
  ) =>
    on.post('/rpc', body, {
      headers: { 'Idempotency-Key': key },
      ...(authorization === undefined ? {} : { authorization }),
    });
  const shown = ({ status, text }: Received): readonly [number, string] => [status, text];
  async function textsOn(target: object): Promise<unknown[]> {
    const answer = await app.post('/rpc', { method: 'svc.sdc.addendum/get-addendums', params: { target } });
    return answer.json<{ result: { text?: string }[] }>().result.map(({ text }) => text);
  }
  const keptOf = async (): Promise<unknown> =>
    (await database.query('select kept from rpc_kept_call order by expires_at desc limit 1')).rows[0];

  it('return the first result on any replica, and write once; for an addendum only its id is kept', async () => {
    const [key, target] = [newKey(), await newTarget()];
    const first = await send(key, noteOn(target));
    expect(await keptOf()).toEqual({ kept: JSON.stringify(first.json<{ result: { id: string } }>().result.id) });
    // A server of an older release ignores the header: it writes again, and leaves the kept result unchanged.
    await app.post('/rpc', noteOn(target, 'Of an older server.'));
    const repeats = [await send(key, noteOn(target)), await send(key.slice(1, -1), noteOn(target), { on: replica })];
    expect(repeats.map(shown)).toEqual([shown(first), shown(first)]);
    expect(await textsOn(target)).toEqual(['Seated.', 'Of an older server.']);
  });

  it.each([
    ['add-comment', { text: 'Why?' }],
    ['create-addendum', {}],
    ['add-to-history', {}],
    ['create-amendment', {}],
    ['svc.sdc/add-note', { text: 'Seated.' }],
    ['svc.sdc/amend', {}],
    ['svc.sdc/save', {}],
    ['svc.sdc/sign', {}],
  ])('of %s write once', async (name, params) => {
    const target = await newTarget(/save|sign/.test(name) ? 'draft' : 'completed');
    const call = {
      method: name.includes('/') ? name : `svc.sdc.addendum/${name}`,
      params: {
        ...{ ...params, ...target, target, user, document: target, resource: { ...target, status: 'completed' } },
        addendum: { type: 'acme/Handover', target, user },
      },
    };
    const key = newKey();
    const count = async (): Promise<unknown> =>
      (await database.query('select count(*) from resource union all select count(*) from resource_history')).rows;
    const first = await send(key, call);
    const stored = await count();
    expect(first.status).toBe(200);
    expect(shown(await send(key, call))).toEqual(shown(first));
    expect(await count()).toEqual(stored);
  });

  it('keep results for each call of a batch, except for methods that only read', async () => {
    const [key, target] = [newKey(), await newTarget()];
    const list = { method: 'svc.sdc.addendum/get-addendums', params: { target } };
    const batch = [noteOn(target, 'one'), list, noteOn(target, 'one')];
    const first = (await send(key, batch)).json<{ result: { id: string } }[]>();
    await app.post('/rpc', noteOn(target, 'two'));
    const again = (await send(key, batch)).json<{ result: { id: string } | unknown[] }[]>();
    expect([again[0], again[2]]).toEqual([first[0], first[2]]);
    expect(again[1]?.result).toHaveLength(3);
    expect(first[0]?.result.id).not.toBe(first[2]?.result.id);
  });

  it('are refused if the key was sent with another call, except by another caller', async () => {
    const [key, target] = [newKey(), await newTarget()];
    await send(key, noteOn(target));
    const other = await send(key, noteOn(target, 'Standing.'));
    expect([other.status, other.json()]).toEqual([
      422,
      { error: { type: 'rpc.error/key-reused', message: expect.stringContaining('another call') } },
    ]);
    const byNurse = await send(key, noteOn(target, 'Standing.'), { authorization: nurse.bearer });
    expect(byNurse.status).toBe(200);
    expect(await textsOn(target)).toEqual(['Seated.', 'Standing.']);
  });

  it('get 409 on any replica while the first call runs, and its result after that', async () => {
    const [key, target] = [newKey(), await newTarget()];
    const held = await HeldTrigger.on(app.databaseUrl, {
      table: 'rpc_kept_call',
      event: 'insert',
      when: 'at the commit',
    });
    const first = send(key, noteOn(target));
    await held.reached();
    for (const on of [app, replica]) {
      const second = await send(key, noteOn(target), { on });
      expect([second.status, second.headers.get('retry-after'), second.json()]).toEqual([
        409,
        '1',
        { error: { type: 'rpc.error/running', message: expect.any(String) } },
      ]);
    }
    await held.release(app.databaseUrl);
    expect(shown(await send(key, noteOn(target)))).toEqual(shown(await first));
    expect(await textsOn(target)).toEqual(['Seated.']);
  });

  it('write once when 16 are sent concurrently', async () => {
    const [key, target] = [newKey(), await newTarget()];
    const sendOne = (_: unknown, index: number): Promise<Received> =>
      send(key, noteOn(target), { on: index % 2 === 0 ? app : replica });
    const answers = await Promise.all(Array.from({ length: 16 }, sendOne));
    const results = answers.filter(({ status }) => status === 200).map(({ text }) => text);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(new Set(results).size).toBe(1);
    expect(await textsOn(target)).toEqual(['Seated.']);
  });

  it('run again after a refusal, which keeps nothing', async () => {
    const [key, target] = [newKey(), await newTarget('draft')];
    expect((await send(key, noteOn(target))).status).toBe(422);
    await app.put(`/SDCDocument/${target.id}`, { ...target, status: 'completed' });
    expect((await send(key, noteOn(target))).status).toBe(200);
  });

  it('keep no result of a dry run', async () => {
    const [key, target] = [newKey(), await newTarget('draft')];
    const call = (isDryRun: boolean): object => ({
      method: 'svc.sdc/sign',
      params: { document: target, user, 'dry-run': isDryRun },
    });
    expect((await send(key, call(true))).status).toBe(200);
    expect((await app.get(`/SDCDocument/${target.id}`)).json()).toMatchObject({ status: 'draft' });
    expect((await send(key, call(false))).status).toBe(200);
    expect((await app.get(`/SDCDocument/${target.id}`)).json()).toMatchObject({ status: 'completed' });
  });

  it('get an error if the result was too large to keep (over 64 KiB)', async () => {
    const [key, target] = [newKey(), await newTarget('draft')];
    const call = { method: 'svc.sdc/sign', params: { document: { ...target, text: 'x'.repeat(65_536) }, user } };
    expect((await send(key, call)).status).toBe(200);
    expect(await keptOf()).toEqual({ kept: null });
    const again = await send(key, call);
    expect([again.status, again.json()]).toMatchObject([422, { error: { type: 'rpc.error/result-not-kept' } }]);
  });

  it('are checked against the current rights', async () => {
    const [key, target] = [newKey(), await newTarget()];
    const repeat = (): Promise<Received> => send(key, noteOn(target), { authorization: nurse.bearer });
    expect((await repeat()).status).toBe(200);
    const policy = { engine: 'allow', link: [{ resourceType: 'User', id: 'nurse' }] };
    await app.put('/AccessPolicy/policy-of-nurse', { ...policy, criteria: ['SDCDocument?encounter=Encounter/own'] });
    const limited = await repeat();
    expect([limited.status, limited.json()]).toEqual([422, { error: { message: 'Resource not found' } }]);
    await app.delete('/AccessPolicy/policy-of-nurse');
    expect((await repeat()).status).toBe(403);
    await app.put('/AccessPolicy/policy-of-nurse', policy);
    expect((await repeat()).status).toBe(200);
  });

  it('run again when the key has expired; expired rows are deleted', async () => {
    const [key, target] = [newKey(), await newTarget()];
    await send(key, noteOn(target));
    await database.query('update rpc_kept_call set expires_at = clock_timestamp()');
    expect((await send(key, noteOn(target))).status).toBe(200);
    expect(await textsOn(target)).toHaveLength(2);
    await app.app.get(BackgroundTasks).wake('sweep of kept RPC calls');
    expect((await database.query('select from rpc_kept_call')).rowCount).toBe(1);
  });

  it('are kept for at most 10,000 keys of one caller; new ones replace the oldest', async () => {
    await database.query(`insert into rpc_kept_call (call_hash, expires_at, digest, caller)
      select int4send(n), clock_timestamp() + n * interval '1 second', '', 'busy' from generate_series(1, 10500) n`);
    await app.app.get(Statements).run(FORGET_OLDEST, ['busy']);
    const { rows } = await database.query(
      `select count(*)::integer, min(encode(call_hash, 'hex')) = encode(int4send(501), 'hex') as is_newest from rpc_kept_call where caller = 'busy'`,
    );
    expect(rows).toEqual([{ count: 10_000, is_newest: true }]);
  });

  it.each(['', '""', '"open', 'a, b', '"a", "b"', 'x'.repeat(256), `"${'x'.repeat(256)}"`, '"\\n"', 'schlüssel'])(
    'with the invalid key %j are refused with 400',
    async (key) => {
      const { status, text } = await send(key, { method: 'svc/echo' });
      expect([status, text]).toEqual([400, expect.stringContaining('Idempotency-Key must be')]);
    },
  );
});
