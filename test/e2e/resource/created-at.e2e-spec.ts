import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type Bundle, idsOf, idsOn, searchOn } from '../../support/bundle';
import { destination, newDestination, newTopic } from '../../support/destinations';
import { login } from '../../../testing/world';
import { putParameter } from '../../support/store';
import { startTestApp, type Received, type TestApp } from '../../../testing/test-app';

const URL = 'urn:svc:created-at';
const LIE = '1999-12-31T23:59:59.999Z';

interface Stored {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: {
    readonly versionId: string;
    readonly lastUpdated: string;
    readonly createdAt?: string;
    readonly extension?: readonly { readonly url: string; readonly valueInstant?: string }[];
  };
}

/** A style of resource types: where the creation time is shown, and a value that a client would write there. */
interface Style {
  readonly type: string;
  readonly createdAtIn: (meta: Stored['meta']) => string | undefined;
  readonly lie: object;
  /** JSON Pointer and FHIRPath of the element with the creation time. */
  readonly pointer: string;
  readonly path: string;
}

const STYLES: readonly Style[] = [
  {
    type: 'Patient',
    createdAtIn: ({ extension = [] }) => {
      const stated = extension.filter(({ url }) => url === URL);
      return stated.length === 1 && extension[0] === stated[0] ? stated[0]?.valueInstant : undefined;
    },
    lie: { extension: [{ url: URL, valueInstant: LIE }] },
    pointer: '/meta/extension/0/valueInstant',
    path: `Patient.meta.extension.where(url = '${URL}').value`,
  },
  {
    type: 'SDCDocument',
    createdAtIn: ({ createdAt }) => createdAt,
    lie: { createdAt: LIE },
    pointer: '/meta/createdAt',
    path: 'SDCDocument.meta.createdAt',
  },
];

describe('The creation time', () => {
  let app: TestApp;
  let database: Client;
  let count = 0;

  beforeAll(async () => {
    app = await startTestApp();
    database = await app.connect();
  });
  afterAll(() => app.close());

  const patch = (path: string, body: object, mediaType: string): Promise<Received> =>
    app.send('PATCH', path, { body, headers: { 'Content-Type': mediaType } });
  const bundle = async (type: string, ...entry: object[]): Promise<Received> => {
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type, entry });
    expect([answer.status, answer.text]).toEqual([200, expect.not.stringMatching(/"status":"[45]/)]);
    return answer;
  };
  const entry = (method: string, url: string, resource?: object): object => ({ resource, request: { method, url } });
  const merge = (path: string, body: object): Promise<Received> => patch(path, body, 'application/merge-patch+json');
  const jsonPatch = (path: string, ...operations: object[]): Promise<Received> =>
    patch(path, operations, 'application/json-patch+json');
  const fhirPathPatch = (path: string, ...parts: object[]): Promise<Received> =>
    patch(
      path,
      { resourceType: 'Parameters', parameter: [{ name: 'operation', part: parts }] },
      'application/fhir+json',
    );
  const replaced = (path: string, value: object): object[] => [
    { name: 'type', valueCode: 'replace' },
    { name: 'path', valueString: path },
    { name: 'value', ...value },
  ];
  const read = async (place: string): Promise<Stored> => {
    const answer = await app.get(`/fhir/${place}`);
    expect(answer.status).toBe(200);
    return answer.json<Stored>();
  };
  const newId = (): string => `born-${++count}`;
  const foundAt = (type: string, id: string, at = ''): Promise<string[]> =>
    idsOn(app, `/fhir/${type}?_id=${id}&_createdAt=${encodeURIComponent(at)}`);

  /** The ways to create a resource. */
  type Door = readonly [name: string, (resource: { resourceType: string; id: string }) => Promise<unknown>];
  const CREATIONS: readonly Door[] = [
    ['PUT', (one) => app.put(`/fhir/${one.resourceType}/${one.id}`, one)],
    ['POST with an id', (one) => app.post(`/fhir/${one.resourceType}`, one)],
    ['a conditional PUT', (one) => app.put(`/fhir/${one.resourceType}?_id=${one.id}`, one)],
    ['a conditional POST', (one) => app.post(`/fhir/${one.resourceType}?_id=${one.id}`, one)],
    ['PUT in a transaction', (one) => bundle('transaction', entry('PUT', `${one.resourceType}/${one.id}`, one))],
    ['POST in a transaction', (one) => bundle('transaction', entry('POST', one.resourceType, one))],
    [
      'a conditional PUT in a transaction',
      (one) => bundle('transaction', entry('PUT', `${one.resourceType}?_id=${one.id}`, one)),
    ],
    ['PUT in a batch', (one) => bundle('batch', entry('PUT', `${one.resourceType}/${one.id}`, one))],
    ['POST in a batch', (one) => bundle('batch', entry('POST', one.resourceType, one))],
    [
      'a collection',
      (one) => app.post('/fhir', { resourceType: 'Bundle', type: 'collection', entry: [{ resource: one }] }),
    ],
    [
      'a transaction of hundreds of entries',
      (one) =>
        bundle(
          'transaction',
          entry('PUT', `${one.resourceType}/${one.id}`, one),
          ...Array.from({ length: 150 }, (_, n) => entry('PUT', `Basic/${one.id}-${n}`, basic(`${one.id}-${n}`))),
        ),
    ],
    [
      'four concurrent creates',
      (one) => Promise.all([1, 2, 3, 4].map(() => app.put(`/fhir/${one.resourceType}/${one.id}`, one))),
    ],
  ];
  const basic = (id: string): object => ({ resourceType: 'Basic', id, code: { text: 'x' } });

  describe.each(STYLES)('of $type', ({ type, createdAtIn, lie, pointer, path }) => {
    const resource = (id: string, members: object = {}): { resourceType: string; id: string } => ({
      resourceType: type,
      id,
      ...members,
    });
    const stored = async (members: object = {}, id = newId()): Promise<{ id: string; place: string; born: string }> => {
      const place = `${type}/${id}`;
      expect((await app.put(`/fhir/${place}`, resource(id, members))).status).toBe(201);
      return { id, place, born: (await read(place)).meta.lastUpdated };
    };

    it.each(CREATIONS)('is set by the server after %s, whatever the client sends', async (_name, create) => {
      const id = newId();
      await create(resource(id, { meta: { ...lie, versionId: '7', lastUpdated: LIE } }));
      const { meta } = await read(`${type}/${id}`);
      expect([meta.versionId, createdAtIn(meta)]).toEqual(['1', meta.lastUpdated]);
      expect(meta.lastUpdated > LIE).toBe(true);
      expect(await foundAt(type, id, meta.lastUpdated)).toEqual([id]);
    });

    it.each(CREATIONS)('is kept after a deletion and %s', async (_name, create) => {
      const { id, place, born } = await stored();
      await app.put(`/fhir/${place}`, resource(id, { language: 'de' }));
      await app.delete(`/fhir/${place}`);
      await create(resource(id, { meta: lie }));
      const { meta } = await read(place);
      expect([Number(meta.versionId) > 3, createdAtIn(meta), meta.lastUpdated > born]).toEqual([true, born, true]);
      expect(await foundAt(type, id, born)).toEqual([id]);
    });

    it('is set in resources whose id the server assigns', async () => {
      const answers = [
        await app.post(`/fhir/${type}`, { resourceType: type, meta: lie }),
        await app.post(`/fhir/${type}`, { resourceType: type }, { headers: { 'If-None-Exist': '_id=nobody' } }),
      ];
      for (const { meta } of answers.map((answer) => answer.json<Stored>()))
        expect(createdAtIn(meta)).toBe(meta.lastUpdated);
    });

    type Change = (place: string, id: string) => Promise<Received | Received[]>;
    it.each<[string, Change]>([
      ['PUT', (place, id) => app.put(`/fhir/${place}`, resource(id, { language: 'de' }))],
      ['PUT with a false time', (place, id) => app.put(`/fhir/${place}`, resource(id, { language: 'de', meta: lie }))],
      [
        'PUT of the read resource',
        async (place) => app.put(`/fhir/${place}`, { ...(await read(place)), language: 'de' }),
      ],
      ['a conditional PUT', (_place, id) => app.put(`/fhir/${type}?_id=${id}`, resource(id, { language: 'de' }))],
      ['a merge patch', (place) => merge(`/fhir/${place}`, { language: 'de', meta: lie })],
      ['a merge patch that removes meta', (place) => merge(`/fhir/${place}`, { language: 'de', meta: null })],
      [
        'a JSON Patch',
        (place) =>
          jsonPatch(
            `/fhir/${place}`,
            { op: 'add', path: '/language', value: 'de' },
            { op: 'replace', path: pointer, value: LIE },
          ),
      ],
      [
        'a FHIRPath patch',
        (place) => fhirPathPatch(`/fhir/${place}`, ...replaced(`${type}.language`, { valueCode: 'de' })),
      ],
      ['a conditional patch', (_place, id) => merge(`/fhir/${type}?_id=${id}`, { language: 'de', meta: lie })],
      [
        'a transaction',
        (place, id) => bundle('transaction', entry('PUT', place, resource(id, { language: 'de', meta: lie }))),
      ],
      [
        'two writes in one transaction',
        (place, id) =>
          bundle(
            'transaction',
            entry('PUT', place, resource(id, { language: 'fr' })),
            entry('PUT', place, resource(id, { language: 'de' })),
          ),
      ],
      [
        'a deletion and a creation in one transaction',
        (place, id) =>
          bundle('transaction', entry('DELETE', place), entry('PUT', place, resource(id, { language: 'de' }))),
      ],
      [
        'a patch in a transaction',
        (place) =>
          bundle(
            'transaction',
            entry('PATCH', place, {
              resourceType: 'Binary',
              contentType: 'application/merge-patch+json',
              data: Buffer.from(JSON.stringify({ language: 'de', meta: lie })).toString('base64'),
            }),
          ),
      ],
      ['a batch', (place, id) => bundle('batch', entry('PUT', place, resource(id, { language: 'de', meta: lie })))],
      [
        'eight concurrent writes',
        (place, id) =>
          Promise.all(
            ['de', 'fr', 'it', 'es', 'pt', 'nl', 'sv', 'fi'].map((language) =>
              app.put(`/fhir/${place}`, resource(id, { language })),
            ),
          ),
      ],
    ])('is kept by %s', async (_name, change) => {
      const { id, place, born } = await stored({ language: 'en' });
      const answers = [await change(place, id)].flat();
      expect(answers.filter(({ status }) => status >= 300).map((answer) => answer.json())).toEqual([]);
      const { meta } = await read(place);
      expect([Number(meta.versionId) > 1, createdAtIn(meta), meta.lastUpdated > born]).toEqual([true, born, true]);
      expect(await foundAt(type, id, born)).toEqual([id]);
      expect(await foundAt(type, id, meta.lastUpdated)).toEqual([]);
    });

    it.each<[string, (place: string, read: Stored) => Promise<Received>]>([
      ['PUT of the read resource', (place, one) => app.put(`/fhir/${place}`, one)],
      ['PUT with a false time', (place, one) => app.put(`/fhir/${place}`, { ...one, meta: lie })],
      ['PUT without the time', (place, one) => app.put(`/fhir/${place}`, { ...one, meta: undefined })],
      ['a merge patch with a false time', (place) => merge(`/fhir/${place}`, { meta: lie })],
      [
        'a JSON Patch with a false time',
        (place) => jsonPatch(`/fhir/${place}`, { op: 'replace', path: pointer, value: LIE }),
      ],
      [
        'a JSON Patch with an invalid time',
        (place) => jsonPatch(`/fhir/${place}`, { op: 'replace', path: pointer, value: 7 }),
      ],
      ['a JSON Patch that removes the time', (place) => jsonPatch(`/fhir/${place}`, { op: 'remove', path: pointer })],
      [
        'a FHIRPath patch that removes the time',
        (place) =>
          fhirPathPatch(`/fhir/${place}`, { name: 'type', valueCode: 'delete' }, { name: 'path', valueString: path }),
      ],
      [
        'a FHIRPath patch with a false time',
        (place) => fhirPathPatch(`/fhir/${place}`, ...replaced(path, { valueInstant: LIE })),
      ],
      ['a transaction with the read resource', (place, one) => bundle('transaction', entry('PUT', place, one))],
    ])('is not changed by %s, which creates no version', async (_name, change) => {
      const { place } = await stored({ language: 'en' });
      await merge(`/fhir/${place}`, { language: 'de' });
      const before = await app.get(`/fhir/${place}`);
      const answer = await change(place, before.json<Stored>());
      expect([answer.status, (await app.get(`/fhir/${place}`)).text]).toEqual([200, before.text]);
    });

    it('is searched and sorted by the shown value', async () => {
      const family = newId();
      const ids = Array.from({ length: 12 }, newId);
      const put = (id: string, language: string): Promise<Received> =>
        app.put(`/fhir/${type}/${id}`, resource(id, { language, meta: { tag: [{ code: family }] } }));
      for (const id of ids) await put(id, 'en');
      for (const [n, id] of [...ids].reverse().entries()) {
        if (n % 2 === 0) await put(id, 'de');
        if (n % 3 === 0) await app.delete(`/fhir/${type}/${id}`);
        if (n % 3 === 0) await put(id, 'fr');
      }
      const search = (query: string): Promise<Bundle> => searchOn(app, `/fhir/${type}?_tag=${family}&${query}`);
      const sorted = await search('_sort=_createdAt');
      expect(idsOf(sorted)).toEqual(ids);
      for (const { resource: found } of sorted.entry as readonly { readonly resource: Stored }[]) {
        const stated = createdAtIn(found.meta) ?? '';
        expect(idsOf(await search(`_createdAt=${stated}`))).toContain(found.id);
        expect(idsOf(await search(`_createdAt=gt${stated}`))).not.toContain(found.id);
      }
    });

    it('is before the times of later versions, even if the clock of a server is late', async () => {
      const { id, place, born } = await stored();
      await app.delete(`/fhir/${place}`);
      await app.atTime(
        () => new Date(Date.now() - 3_600_000),
        async () => {
          await app.put(`/fhir/${place}`, resource(id));
          await app.delete(`/fhir/${place}`);
          await bundle('transaction', entry('PUT', place, resource(id)));
        },
      );
      const { meta } = await read(place);
      expect([meta.versionId, createdAtIn(meta), meta.lastUpdated > born]).toEqual(['5', born, true]);
      expect(await foundAt(type, id, born)).toEqual([id]);
    });

    it('is added to bodies that older versions stored without it', async () => {
      const { id, place, born } = await stored({ language: 'en' }, `old-${type}`);
      const strip = (): Promise<unknown> =>
        database.query(
          `update resource set body = regexp_replace(body, ',"(extension":\\[\\{[^}]*\\}\\]|createdAt":"[^"]*")', '')
           where type = $1 and id = $2 returning body`,
          [type, id],
        );
      for (const language of ['de', 'fr']) {
        await strip();
        const old = await read(place);
        expect(createdAtIn(old.meta)).toBeUndefined();
        expect((await app.put(`/fhir/${place}`, old)).json<Stored>().meta).toEqual(old.meta);
        await app.put(`/fhir/${place}`, { ...old, language });
        expect(createdAtIn((await read(place)).meta)).toBe(born);
      }
      await strip();
      await bundle('transaction', entry('PUT', place, resource(id, { language: 'it' })));
      expect(createdAtIn((await read(place)).meta)).toBe(born);
    });
  });

  it('keeps other extensions of meta as sent, in order', async () => {
    const own = `{"url":"http://a.example/x","valueDecimal":1.10}`;
    const others = `{"url":"http://a.example/y","valueString":"\\u00e9 \\/"},{"url":"http://a.example/x","valueDecimal":2.50}`;
    const lie = `{"valueInstant":"${LIE}","\\u0075rl":"urn:svc:created\\u002dat"}`;
    const sent = `{"resourceType":"Patient","meta":{"tag":[{"code":"t"}],"extension":[${own},${lie},${others}],"source":"s:1"}}`;
    const { text } = await app.put('/fhir/Patient/others', sent);
    const { lastUpdated } = (JSON.parse(text) as Stored).meta;
    const stated = `{"url":"${URL}","valueInstant":"${lastUpdated}"}`;
    const meta = `{"versionId":"1","lastUpdated":"${lastUpdated}","extension":[${stated},${own},${others}],"tag":[{"code":"t"}],"source":"s:1"}`;
    expect(text).toBe(`{"resourceType":"Patient","id":"others","meta":${meta}}`);
    expect((await app.put('/fhir/Patient/others', text)).text).toBe(text);
    expect((await app.put('/fhir/Patient/others', sent)).text).toBe(text);
    const removed = await jsonPatch('/fhir/Patient/others', { op: 'remove', path: '/meta/extension' });
    expect(removed.json<Stored>().meta.extension).toEqual([{ url: URL, valueInstant: lastUpdated }]);
  });

  it.each([
    ['createdAt of a FHIR type', '/fhir/Patient/refused', { meta: { createdAt: LIE } }, 'Patient.meta.createdAt'],
    ['extensions that are not a list', '/fhir/Patient/refused', { meta: { extension: {} } }, 'Patient.meta.extension'],
    [
      'extensions of an open type that are not a list',
      '/SDCDocument/refused',
      { meta: { extension: 'x' } },
      'meta.extension',
    ],
  ])('refuses %s', async (_name, path, body, named) => {
    const answer = await app.put(path, body);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(named)]);
  });

  it('does not use the extension in native types, where clients may use it', async () => {
    const extension = [{ url: URL, valueInstant: LIE }];
    const { meta } = (await app.put('/SDCDocument/extended', { meta: { extension } })).json<Stored>();
    expect(meta).toEqual({ versionId: '1', lastUpdated: meta.lastUpdated, createdAt: meta.lastUpdated, extension });
  });

  it('causes no issue of $validate, whether right or wrong', async () => {
    const bodies = [
      { resourceType: 'Patient', meta: { extension: [{ url: URL, valueInstant: 'yesterday' }] } },
      { resourceType: 'Role', name: 'n', user: { resourceType: 'User', id: 'u' }, meta: { createdAt: 7 } },
    ];
    for (const body of bodies) {
      const answer = await app.post(`/fhir/${body.resourceType}/$validate`, body);
      expect([answer.status, answer.text]).toEqual([200, expect.not.stringContaining('"error"')]);
      expect((await app.post(`/fhir/${body.resourceType}`, body)).status).toBe(201);
    }
  });

  it('may be in a Bundle that is stored', async () => {
    await app.put('/fhir/Patient/bundled', {});
    await app.put('/fhir/SDCDocument/bundled', {});
    const places = [
      'Patient/bundled',
      'SDCDocument/bundled',
      'User/admin',
      'Client/root',
      'CompartmentDefinition/patient',
    ];
    const entry = await Promise.all(places.map(async (place) => ({ resource: await read(place) })));
    const stored = await app.post('/fhir/Bundle', { resourceType: 'Bundle', type: 'collection', entry });
    expect([stored.status, stored.json<{ entry: object }>().entry]).toEqual([201, entry]);
  });

  it('has the native form in addenda and documents by RPC', async () => {
    const rpc = async <T>(method: string, params: object): Promise<T> =>
      (await app.post('/rpc', { method: `svc.sdc${method}`, params })).json<{ result: T }>().result;
    const user = { id: 'doc-1', resourceType: 'User' };
    const document = (await app.put('/SDCDocument/signed', { status: 'draft' })).json<Stored>();
    const born = document.meta.lastUpdated;
    const lied = { ...document, meta: { createdAt: LIE } };
    const dryRun = await rpc<{ document: Stored }>('/sign', { document: lied, user, 'dry-run': true });
    expect(dryRun.document.meta).toEqual({ versionId: '1', lastUpdated: born, createdAt: born });
    const signed = await rpc<{ document: Stored }>('/sign', { document: lied, user });
    expect(signed.document.meta).toMatchObject({ versionId: '2', createdAt: born });
    const addenda = await rpc<Stored[]>('.addendum/get-addendums', {
      target: { id: 'signed', resourceType: 'SDCDocument' },
    });
    expect(addenda).toHaveLength(1);
    for (const { meta } of addenda)
      expect(meta).toEqual({ versionId: '1', lastUpdated: meta.lastUpdated, createdAt: meta.lastUpdated });
  });

  it('can be indexed by a stored SearchParameter', async () => {
    await putParameter(app, 'told-by', { base: ['Basic'], type: 'uri', expression: 'Basic.meta.extension.url' });
    await app.put('/fhir/Basic/told', basic('told'));
    expect(await idsOn(app, `/fhir/Basic?told-by=${URL}&_id=told`)).toEqual(['told']);
  });

  it('uses the URL of the changed setting, also for older resources', async () => {
    const url = 'https://clinic.example/created';
    const first = (await app.put('/fhir/Patient/moved', { language: 'en' })).json<Stored>();
    await app.put('/fhir/Patient/moved', { language: 'de', meta: { extension: [{ url, valueInstant: LIE }] } });
    const other = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_CREATED_AT_URL: url } });
    try {
      await other.put('/fhir/Patient/moved', { language: 'fr' });
      const { meta } = (await other.get('/fhir/Patient/moved')).json<Stored>();
      expect(meta.extension).toEqual([{ url, valueInstant: first.meta.lastUpdated }]);
    } finally {
      await other.close();
    }
  });

  it('is equal in all stored bodies and in the search index, for any writer', async () => {
    await login(app, 'ada');
    await app.put('/SDCWorkflow/styled', { status: 'new' });
    await newDestination(app, destination(await newTopic(app)));
    const { rows } = await database.query<{ type: string; isNative: boolean; other: string | null }>(
      `with versions as (select type, id, version, updated_at, body::jsonb -> 'meta' as meta from resource union all
         select type, id, version, updated_at, body::jsonb -> 'meta' from resource_history where body is not null)
       select v.type, bool_and(v.meta ? 'createdAt') as "isNative",
         min(v.type || '/' || v.id || ' ' || v.version) filter (where
           coalesce(v.meta ->> 'createdAt', v.meta #>> '{extension,0,valueInstant}')::timestamptz is distinct from
           case when v.version = 1 then v.updated_at else (select h.updated_at from resource_history h
             where h.type = v.type and h.id = v.id and h.version = 1) end) as other
       from versions v where v.id not like 'old-%' group by v.type order by v.type`,
    );
    expect(rows.filter(({ other }) => other !== null)).toEqual([]);
    const ofStyle = (style: boolean): string[] =>
      rows.flatMap(({ type, isNative }) => (isNative === style ? [type] : []));
    expect(ofStyle(true)).toEqual([
      ...['AccessPolicy', 'Client', 'Role', 'SDCAddendum'],
      ...['SDCDocument', 'SDCWorkflow', 'Session', 'User'],
    ]);
    expect(ofStyle(false)).toEqual(
      expect.arrayContaining([
        'AuditEvent',
        'CompartmentDefinition',
        'SearchParameter',
        'SvcSubscriptionTopic',
        'SvcTopicDestination',
      ]),
    );
  });
});
