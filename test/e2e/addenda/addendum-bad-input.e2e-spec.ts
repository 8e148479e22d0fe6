import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { RpcRegistry } from '../../../src/rpc/rpc.registry';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const user = { id: 'doc-1', resourceType: 'User' };
const target = { id: 'd1', resourceType: 'SDCDocument' };
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Every method with a target, and valid params for it. */
const WITH_TARGET: Readonly<Record<string, object>> = {
  'svc.sdc.addendum/create-addendum': { addendum: { type: 'acme/Handover', target, user } },
  'svc.sdc.addendum/add-note': { target, user, text: 'x' },
  'svc.sdc.addendum/add-comment': { target, user, text: 'x' },
  'svc.sdc.addendum/create-amendment': { target, user },
  'svc.sdc.addendum/get-addendums': { target },
  'svc.sdc.addendum/verify': { target },
};
const WITH_BODY: Readonly<Record<string, string>> = {
  'svc.sdc.addendum/add-to-history': 'resource',
  'svc.sdc/save': 'document',
  'svc.sdc/sign': 'document',
};
const WITH_ID: Readonly<Record<string, object>> = {
  'svc.sdc/amend': { id: 'd1' },
  'svc.sdc/add-note': { id: 'd1', user, text: 'x' },
  'svc.sdc/add-workflow-note': { id: 'w1', user, text: 'x' },
  'svc.sdc/get-workflow-addendums': { id: 'w1' },
};

describe('bad input to addendum methods', () => {
  let app: TestApp;
  let database: Client;
  let stored: unknown;

  /** All rows that a call could write. */
  async function state(): Promise<unknown> {
    const { rows } = await database.query(`
      select (select count(*) from resource where type like 'SDC%') as resources,
        (select count(*) from resource_history where type like 'SDC%') as versions,
        (select count(*) from addendum_target) as targets, (select count(*) from addendum_entry) as entries,
        (select md5(string_agg(body, '' order by type, id)) from resource where type like 'SDC%') as content`);
    return rows[0];
  }

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
    await app.put('/SDCDocument/d1', { resourceType: 'SDCDocument', status: 'draft', a: 1 });
    await app.put('/SDCWorkflow/w1', { resourceType: 'SDCWorkflow', status: 'draft' });
    await app.put('/Patient/p1', { resourceType: 'Patient' });
    stored = await state();
  });
  afterAll(() => app.close());

  /** Sends a call that must be refused, and checks that it stores nothing. */
  async function refused(method: string, paramsText: string): Promise<{ status: number; text: string }> {
    const { status, text } = await app.post('/rpc', `{"method":"${method}","params":${paramsText}}`);
    expect([method, [400, 413, 422].includes(status) ? 'refused' : `${status} ${text.slice(0, 500)}`]).toEqual([
      method,
      'refused',
    ]);
    expect(JSON.parse(text)).toEqual({ error: expect.objectContaining({ message: expect.any(String) }) });
    return { status, text };
  }
  const unchanged = async (): Promise<void> => {
    expect(await state()).toEqual(stored);
  };

  it('is tried with every method', () => {
    const known = app.app.get(RpcRegistry, { strict: false }).all();
    const tried = [WITH_TARGET, WITH_BODY, WITH_ID].flatMap((methods) => Object.keys(methods));
    expect([...tried, 'svc/echo'].sort()).toEqual(known.map(({ meta }) => meta.method).sort());
  });

  describe.each([...Object.keys(WITH_TARGET), ...Object.keys(WITH_BODY), ...Object.keys(WITH_ID)])(
    'of %s',
    (method) => {
      /** Valid params as text, with added or removed members. */
      const params = (more: object = {}): string => {
        const body = WITH_BODY[method];
        const good = WITH_TARGET[method] ??
          WITH_ID[method] ?? { [body ?? '']: { ...target, status: 'completed' }, user };
        return JSON.stringify({ ...good, ...more });
      };
      const withMember = (memberText: string): string => `${params().slice(0, -1)},${memberText}}`;

      it.each<[string, (good: string) => string]>([
        ['a key __proto__', () => withMember('"x":{"__proto__":{"isAdmin":true}}')],
        ['an escaped key __proto__', () => withMember('"x":{"\\u005f_proto__":1}')],
        ['constructor', () => withMember('"constructor":{"prototype":{"x":1}}')],
        ['a duplicate key', () => withMember('"x":1,"\\u0078":2')],
        ['more than 64 levels', () => withMember(`"x":${nested(63)}`)],
        ['100,000 levels', () => withMember(`"x":${nested(100_000)}`)],
        ['half a surrogate pair', () => withMember('"x":"\\ud83d"')],
        ['half a surrogate pair as a key', () => withMember('"\\udc00":1')],
        ['NUL', () => withMember('"x":"\\u0000"')],
        ['a number of 41 digits', () => withMember(`"x":${'9'.repeat(41)}`)],
        ['a number with a huge exponent', () => withMember('"x":1e999999999')],
      ])('%s is an invalid call: 400', async (_what, text) => {
        expect((await refused(method, text(params()))).status).toBe(400);
        await unchanged();
      });

      it.each(['null', '[]', '"text"', '17', 'true', `[${'0,'.repeat(99_999)}0]`, '{}'])(
        'params that are %.20s: 422',
        async (text) => {
          expect((await refused(method, text)).status).toBe(422);
          await unchanged();
        },
      );
    },
  );

  const notObjects = [null, 1, 'SDCDocument/d1', true, [], [target], Array.from({ length: 100_000 }, () => 1)];

  it.each(Object.keys(WITH_TARGET))('an invalid target of %s: 422', async (method) => {
    const targets = [
      ...notObjects,
      {},
      { ...target, resourceType: 'Patient' },
      { ...target, id: 'p1', resourceType: 'Patient' },
      { ...target, resourceType: 'SDCAddendum' },
      { ...target, resourceType: 'sdcdocument' },
      { ...target, resourceType: ['SDCDocument'] },
      { ...target, resourceType: 'constructor' },
      { reference: 'SDCDocument/d1' },
      ...[
        1,
        null,
        '',
        [],
        ['d1'],
        { id: 'd1' },
        'a b',
        'd1/..',
        '../d1',
        'd1\n',
        '%64%31',
        'x'.repeat(65),
        'D1',
        "d1'--",
      ].map((id) => ({ ...target, id })),
    ];
    for (const one of targets) {
      const good = WITH_TARGET[method] ?? {};
      const params = method.endsWith('create-addendum')
        ? { addendum: { type: 'acme/Handover', user, target: one } }
        : { ...good, target: one };
      expect((await refused(method, JSON.stringify(params))).status).toBe(422);
    }
    await unchanged();
  });

  it.each(Object.entries(WITH_BODY))('an invalid body of %s: 422', async (method, member) => {
    const bodies = [
      ...notObjects,
      {},
      { ...target, id: undefined },
      { ...target, resourceType: 'Patient' },
      { ...target, resourceType: 7 },
      ...(method === 'svc.sdc/save' || method === 'svc.sdc/sign'
        ? [
            { ...target, resourceType: 'SDCWorkflow' },
            { ...target, id: 'nobody' },
          ]
        : [
            { ...target, resourceType: undefined },
            { ...target, status: 7 },
            { ...target, status: ['completed'] },
          ]),
      ...[1, null, '', [], ['d1'], 'a b', '../d1', 'd1\n', 'x'.repeat(65)].map((id) => ({ ...target, id })),
    ];
    for (const body of bodies) {
      expect((await refused(method, JSON.stringify({ [member]: body, user }))).status).toBe(422);
    }
    await unchanged();
  });

  it.each(['svc.sdc/save', 'svc.sdc/sign'])('an invalid meta of %s: 422', async (method) => {
    for (const meta of [
      null,
      1,
      [],
      'x',
      { versionId: 1 },
      { versionId: '0' },
      { versionId: '1.0' },
      { versionId: '99' },
    ]) {
      expect((await refused(method, JSON.stringify({ document: { ...target, meta } }))).status).toBe(422);
    }
    await unchanged();
  });

  it.each(Object.keys(WITH_ID))('an invalid id of %s: 422', async (method) => {
    for (const id of [1, null, '', [], ['d1'], { id: 'd1' }, 'a b', '../d1', 'd1\n', 'x'.repeat(100_000), 'nobody']) {
      expect((await refused(method, JSON.stringify({ ...WITH_ID[method], id }))).status).toBe(422);
    }
    await unchanged();
  });

  it('a user with an invalid id: 422 with its path', async () => {
    const calls: readonly (readonly [string, (user: object) => object, readonly string[]])[] = [
      ['svc.sdc.addendum/add-comment', (by) => ({ target, user: by, text: 'x' }), ['user', 'id']],
      [
        'svc.sdc.addendum/create-addendum',
        (by) => ({ addendum: { type: 'acme/Handover', target, user: by } }),
        ['addendum', 'user', 'id'],
      ],
      ['svc.sdc.addendum/add-to-history', (by) => ({ resource: target, user: by }), ['user', 'id']],
      ['svc.sdc/sign', (by) => ({ document: target, user: by }), ['user', 'id']],
    ];
    const message = 'id has 1 to 64 letters, digits, "-" or "."';
    for (const [method, params, path] of calls)
      for (const id of ['a b/../x', '', 'd1\n', 'x'.repeat(65), 7, ['doc-1']]) {
        const { text } = await refused(method, JSON.stringify(params({ ...user, id })));
        expect(JSON.parse(text)).toMatchObject({ error: { errors: [{ path, message }] } });
      }
    await unchanged();
  });

  it.each<[string, unknown]>([
    ['not an array', '8310-5.value'],
    ['an object', { 0: 'a' }],
    ['with a number', ['a', 0]],
    ['with null', [null]],
    ['with __proto__', ['__proto__', 'isAdmin']],
    ['with constructor', ['a', 'constructor']],
    ['of 100,000 steps', Array.from({ length: 100_000 }, () => 'a')],
  ])('a comment path that is %s: 422', async (_what, path) => {
    const comment = { target, user, text: 'x', path };
    const message = 'path must be an array of at most 64 strings that a document can have as keys';
    for (const [method, params, at] of [
      ['svc.sdc.addendum/add-comment', comment, ['path']],
      [
        'svc.sdc.addendum/create-addendum',
        { addendum: { ...comment, type: 'svc.sdc.addendum/Comment' } },
        ['addendum', 'path'],
      ],
    ] as const) {
      const { text } = await refused(method, JSON.stringify(params));
      expect(JSON.parse(text)).toEqual({
        error: { message: 'Invalid params', type: 'rpc-params-invalid', errors: [{ path: at, message }] },
      });
    }
    await unchanged();
  });

  it.each<[string, object]>([
    ['POST', { request: { method: 'POST', url: 'SDCAddendum' } }],
    ['a conditional POST', { request: { method: 'POST', url: 'SDCAddendum', ifNoneExist: 'type=x' } }],
    ['PUT', { request: { method: 'PUT', url: 'SDCAddendum/a1' } }],
    ['a conditional PUT', { request: { method: 'PUT', url: 'SDCAddendum?type=x' } }],
    ['PATCH', { request: { method: 'PATCH', url: 'SDCAddendum/a1' } }],
    ['DELETE', { request: { method: 'DELETE', url: 'SDCAddendum/a1' }, resource: undefined }],
    ['a conditional DELETE', { request: { method: 'DELETE', url: 'SDCAddendum?type=x' }, resource: undefined }],
  ])('a %s of an addendum by REST is 405, alone and in a Bundle', async (_what, entry) => {
    const resource = { resourceType: 'SDCAddendum', id: 'a1', type: 'acme/Forged', target, user, date: '2025-01-01' };
    const { request } = entry as { request: { method: string; url: string; ifNoneExist?: string } };
    const alone = await app.send(request.method, `/fhir/${request.url}`, {
      ...(request.method === 'DELETE' ? {} : { body: resource }),
      headers: request.ifNoneExist === undefined ? {} : { 'If-None-Exist': request.ifNoneExist },
    });
    expect(alone.status).toBe(405);
    const other = {
      request: { method: 'PUT', url: 'SDCDocument/d2' },
      resource: { resourceType: 'SDCDocument', id: 'd2' },
    };
    for (const type of ['transaction', 'batch']) {
      const entries = type === 'batch' ? [{ resource, ...entry }] : [other, { resource, ...entry }];
      const bundle = await app.post('/fhir', { resourceType: 'Bundle', type, entry: entries });
      if (type === 'transaction') expect(bundle.status).toBe(405);
      else expect(bundle.json()).toMatchObject({ entry: [{ response: { status: expect.stringMatching(/^405/) } }] });
    }
    await unchanged();
  });

  it('a batch of 50,000 calls is refused, and none of them runs', async () => {
    const call = JSON.stringify({ method: 'svc.sdc.addendum/add-comment', params: { target, user, text: 'x' } });
    const { status, text } = await app.post('/rpc', `[${Array<string>(50_000).fill(call).join(',')}]`);
    expect([status, text]).toEqual([
      422,
      '{"error":{"message":"At most 100 calls go into one request.","type":"rpc-batch-too-large"}}',
    ]);
    await unchanged();
  });
});
