import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { login } from '../../../testing/world';
import { BASE_URL, type Received, type Sent, type TestApp, startTestApp } from '../../../testing/test-app';

interface AnswerEntry {
  readonly resource?: { readonly resourceType: string; readonly id: string; readonly total?: number };
  readonly response: {
    readonly status: string;
    readonly location?: string;
    readonly etag?: string;
    readonly lastModified?: string;
    readonly outcome?: Outcome;
  };
}

interface AnswerBundle {
  readonly type: string;
  readonly entry?: readonly AnswerEntry[];
}

interface Outcome {
  readonly issue: readonly { readonly code: string; readonly diagnostics: string; readonly expression?: string[] }[];
}

interface Entry {
  readonly fullUrl?: string;
  readonly resource?: object;
  readonly request?: object;
}

const TABLES = [
  ...['resource', 'resource_history', 'search_token', 'reference_link', 'search_date', 'search_string'],
  ...['search_number', 'outbox_event'],
];

const basic = (members: object = {}): object => ({ resourceType: 'Basic', code: { text: 'x' }, ...members });
const patient = (members: object = {}): object => ({ resourceType: 'Patient', ...members });
const put = (type: string, id: string, members: object = {}): Entry => ({
  resource: { resourceType: type, id, ...members },
  request: { method: 'PUT', url: `${type}/${id}` },
});
const post = (resource: object, more: object = {}): Entry => ({
  resource,
  request: { method: 'POST', url: (resource as { resourceType: string }).resourceType, ...more },
});
const remove = (url: string, more: object = {}): Entry => ({ request: { method: 'DELETE', url, ...more } });
const get = (url: string, more: object = {}): Entry => ({ request: { method: 'GET', url, ...more } });
const urn = (n: number): string => `urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('Bundles', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'off' } }); // the test counts rows
    database = await app.connect();
  });
  afterAll(() => app.close());

  const send = (type: string, entry: readonly Entry[], sent: Sent = {}): Promise<Received> =>
    app.post('/fhir', { resourceType: 'Bundle', type, entry }, sent);
  const entriesOf = (answer: Received): readonly AnswerEntry[] => {
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    return answer.json<AnswerBundle>().entry ?? [];
  };
  const transact = async (...entry: readonly Entry[]): Promise<readonly AnswerEntry[]> =>
    entriesOf(await send('transaction', entry));
  const statusesOf = (entries: readonly AnswerEntry[]): string[] =>
    entries.map(({ response }) => response.status.slice(0, 3));
  const pathOf = ({ response }: AnswerEntry | Record<'response', AnswerEntry['response']>): string =>
    `/${response.location ?? ''}`.replace(/\/_history\/\d+$/, '');
  const readOf = async <T>(entry: AnswerEntry | undefined): Promise<T> => {
    if (entry === undefined) throw new Error('no such entry');
    return (await app.get(`/fhir${pathOf(entry)}`)).json<T>();
  };
  const counts = async (): Promise<Record<string, string>> => {
    const sql = TABLES.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ');
    return (await database.query<Record<string, string>>(`select ${sql}`)).rows[0] ?? {};
  };

  describe.each(['/fhir', '/fhir/', '/', ''])('sent to "%s"', (root) => {
    it('are processed, and the locations in the response use that root', async () => {
      const entry = [put('Patient', 'on-root'), get('Patient/on-root')];
      const answer = await app.post(root, { resourceType: 'Bundle', type: 'transaction', entry });
      const entries = entriesOf(answer);
      expect(answer.json<AnswerBundle>().type).toBe('transaction-response');
      expect(entries[0]?.response.location).toBe('Patient/on-root/_history/1');
      expect(entries[1]?.resource).toMatchObject({ resourceType: 'Patient', id: 'on-root' });
    });
  });

  describe('a transaction', () => {
    it('returns for each entry, in order, status, location, etag and lastModified', async () => {
      await app.put('/fhir/Patient/answers-1', patient({ active: true }));
      await app.put('/fhir/Patient/answers-2', patient({ active: true }));
      const entries = await transact(
        put('Patient', 'answers-1', { active: false }),
        post(patient()),
        put('Patient', 'answers-2', { active: true }),
        put('Patient', 'answers-3'),
        remove('Patient/answers-none'),
        remove('Patient/answers-2'),
      );
      expect(statusesOf(entries)).toEqual(['200', '201', '200', '201', '204', '200']);
      expect(entries.map(({ response }) => response.etag)).toEqual([
        'W/"2"',
        'W/"1"',
        'W/"1"',
        'W/"1"',
        undefined,
        'W/"2"',
      ]);
      const stored = await app.get('/fhir/Patient/answers-1');
      expect(entries[0]?.response.lastModified).toBe(stored.json<{ meta: { lastUpdated: string } }>().meta.lastUpdated);
      expect((await app.get('/fhir/Patient/answers-2')).status).toBe(410);
      expect(entries.every(({ resource }) => resource === undefined)).toBe(true);
    });

    it.each([
      ['return=representation', 'resource'],
      ['return=OperationOutcome', 'outcome'],
    ])('applies "Prefer: %s" to its entries', async (prefer, what) => {
      const [entry] = entriesOf(await send('transaction', [post(patient())], { headers: { Prefer: prefer } }));
      expect([entry?.resource !== undefined, entry?.response.outcome !== undefined]).toEqual([
        what === 'resource',
        what === 'outcome',
      ]);
    });

    it('stores the sent bodies with all digits', async () => {
      const body = `{"resourceType":"Bundle","type":"transaction","entry":[{"fullUrl":"${urn(1)}","resource":
        { "resourceType" : "Patient" },"request":{"method":"POST","url":"Patient"}},{"resource":{"resourceType":"Observation",
        "id":"bytes","status":"final","code":{"text":"x"},"subject":{"reference":"${urn(1)}"}, "valueQuantity":{"value":1.10},
        "referenceRange":[{ "low":{"value":1e2} }],"note":[{"text":"\\u00e9 é  \\"reference\\":\\"${urn(1)}\\""}]},
        "request":{"method":"PUT","url":"Observation/bytes"}}]}`;
      const [first] = entriesOf(await app.post('/fhir', body));
      if (first === undefined) throw new Error('no entry');
      const { text } = await app.get('/fhir/Observation/bytes');
      expect(text.slice(text.indexOf('"subject"'))).toBe(
        `"subject":{"reference":"${pathOf(first).slice(1)}"},"valueQuantity":{"value":1.10},` +
          `"referenceRange":[{"low":{"value":1e2}}],"note":[{"text":"\\u00e9 é  \\"reference\\":\\"${urn(1)}\\""}]}`,
      );
    });

    it('resolves fullUrls in references, uris and narratives of every entry, and nowhere else', async () => {
      const entries = await transact(
        post({
          resourceType: 'DocumentReference',
          status: 'current',
          subject: { reference: urn(2) },
          identifier: [{ system: 'urn:ietf:rfc:3986', value: urn(2) }],
          content: [{ attachment: { url: 'urn:oid:1.2.3' } }],
          contained: [basic({ id: 'c', subject: { reference: urn(2) } })],
          context: { related: [{ reference: '#c' }] },
          text: { status: 'generated', div: `<div><a href="${urn(2)}">x</a><img src='urn:oid:1.2.3'/></div>` },
        }),
        { fullUrl: urn(2), ...post(patient()) },
        { fullUrl: 'urn:oid:1.2.3', ...put('Binary', 'by-oid', { contentType: 'text/plain' }) },
      );
      const target = pathOf(entries[1] ?? { response: { status: '' } }).slice(1);
      expect(await readOf(entries[0])).toMatchObject({
        subject: { reference: target },
        identifier: [{ value: urn(2) }],
        content: [{ attachment: { url: 'Binary/by-oid' } }],
        contained: [{ subject: { reference: target } }],
        text: { div: `<div><a href="${target}">x</a><img src='Binary/by-oid'/></div>` },
      });
      expect((await app.get(`/fhir/DocumentReference?subject=${target}`)).json<{ total: number }>().total).toBe(1);
    });

    it('resolves urns of UUIDs and OIDs in upper and lower case', async () => {
      const uuid = 'urn:uuid:00000000-0000-4000-8000-00000000000a';
      const entries = await transact(
        { fullUrl: uuid, ...post(patient({ id: 'made-up' })) },
        { fullUrl: 'URN:OID:1.2.4', ...post(patient({ id: 'made-up-too' })) },
        ...[uuid.replace('uuid', 'UUID'), uuid.replace('0a', '0A'), 'urn:oid:1.2.4', 'urn:OID:1.2.4'].map((reference) =>
          post(basic({ subject: { reference } })),
        ),
      );
      const [byUuid, byOid] = entries.map((entry) => ({ reference: pathOf(entry).slice(1) }));
      const subjects = await Promise.all(
        entries.slice(2).map(async (entry) => (await readOf<{ subject: object }>(entry)).subject),
      );
      expect(subjects).toEqual([byUuid, byUuid, byOid, byOid]);
      expect(await readOf(entries[1])).not.toMatchObject({ id: 'made-up-too' });
    });

    it('keeps a urn unchanged if no entry has it', async () => {
      const subject = { reference: urn(99) };
      const [entry] = await transact(post(basic({ subject })));
      expect(await readOf(entry)).toMatchObject({ subject });
    });

    it('stores a document Bundle unchanged, even if it contains resources of the transaction', async () => {
      const composition = {
        ...{ resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2026-01-01', title: 't' },
        ...{ subject: { reference: urn(2) }, author: [{ reference: urn(2) }] },
      };
      const document = {
        ...{ resourceType: 'Bundle', type: 'document', timestamp: '2026-01-01T00:00:00Z' },
        identifier: { system: 'urn:ietf:rfc:3986', value: urn(9) },
        entry: [
          { fullUrl: urn(1), resource: composition },
          { fullUrl: urn(2), resource: patient() },
        ],
      };
      const entries = await transact(
        { fullUrl: urn(1), ...post(composition) },
        { fullUrl: urn(2), ...post(patient()) },
        { fullUrl: urn(3), ...post(document) },
      );
      const target = { reference: pathOf(entries[1] ?? { response: { status: '' } }).slice(1) };
      expect(await readOf(entries[0])).toMatchObject({ subject: target, author: [target] });
      expect(await readOf(entries[2])).toMatchObject(document);
    });

    it('resolves http fullUrls of resources that get another id, and relative references to them', async () => {
      const entries = await transact(
        { fullUrl: 'http://other.example/fhir/Patient/5', ...post(patient()) },
        {
          fullUrl: 'http://other.example/fhir/Basic/6',
          ...post(basic({ subject: { reference: 'Patient/5' } })),
        },
        post(basic({ subject: { reference: 'http://other.example/fhir/Patient/5' } })),
        post(basic({ subject: { reference: 'Patient/5' } })),
      );
      const target = pathOf(entries[0] ?? { response: { status: '' } }).slice(1);
      const subjects = await Promise.all(
        entries.slice(1).map(async (entry) => (await readOf<{ subject: object }>(entry)).subject),
      );
      expect(subjects).toEqual([{ reference: target }, { reference: target }, { reference: 'Patient/5' }]);
    });

    it('keeps the id of a posted body, except if its fullUrl is a urn', async () => {
      const same = { fullUrl: urn(4), ...post(patient({ id: 'made-up' })) };
      const first = await transact(same, post(patient({ id: 'kept' })));
      const second = await transact(same);
      expect(statusesOf([...first, ...second])).toEqual(['201', '201', '201']);
      expect([...first, ...second].map(pathOf)).toEqual([
        expect.stringMatching(/^\/Patient\/[\da-f-]{36}$/),
        '/Patient/kept',
        expect.stringMatching(/^\/Patient\/[\da-f-]{36}$/),
      ]);
    });

    it('refuses the same fullUrl for two resources', async () => {
      const answer = await send('transaction', [
        { fullUrl: urn(3), ...post(patient()) },
        { fullUrl: urn(3), ...post(patient()) },
      ]);
      expect([answer.status, answer.json<Outcome>().issue[0]?.expression]).toEqual([400, ['Bundle.entry[1].fullUrl']]);
    });

    it.each([
      ['entries', { entries: [post(patient())] }, 'Bundle has no member "entries". It has '],
      ['fullURL', { entry: [{ fullURL: urn(5), ...post(patient()) }] }, 'Did you mean "fullUrl"?'],
      [
        'ifmatch',
        {
          entry: [{ resource: patient({ id: 'x' }), request: { method: 'PUT', url: 'Patient/x', ifmatch: 'W/"9"' } }],
        },
        'Bundle.entry.request has no member "ifmatch". Did you mean "ifMatch"?',
      ],
    ])('refuses the misspelt member %s, and stores nothing', async (_name, members, message) => {
      const before = (await app.get('/fhir/Patient?_summary=count')).json<{ total: number }>().total;
      for (const type of ['transaction', 'batch']) {
        const { status, text } = await app.post('/fhir', { resourceType: 'Bundle', type, ...members });
        expect([status, text]).toEqual([400, expect.stringContaining(JSON.stringify(message).slice(1, -1))]);
      }
      expect((await app.get('/fhir/Patient?_summary=count')).json<{ total: number }>().total).toBe(before);
    });

    it('creates successive versions of one id in the order of the entries', async () => {
      const entries = await transact(
        put('Patient', 'twice', { active: true }),
        put('Patient', 'twice', { active: false }),
        remove('Patient/twice'),
        put('Patient', 'twice', { gender: 'other' }),
        post(patient({ id: 'twice-new' })),
        remove('Patient/twice-new'),
      );
      expect(statusesOf(entries)).toEqual(['201', '200', '200', '201', '201', '200']);
      expect(entries.map(({ response }) => response.etag)).toEqual([
        ...['W/"1"', 'W/"2"', 'W/"3"', 'W/"4"', 'W/"1"', 'W/"2"'],
      ]);
      expect((await app.get('/fhir/Patient/twice/_history')).json<{ total: number }>().total).toBe(4);
    });

    it('continues the versions of a deleted resource', async () => {
      await app.put('/fhir/Patient/again', patient());
      await app.delete('/fhir/Patient/again');
      const [entry] = await transact(put('Patient', 'again', { active: true }));
      expect([entry?.response.status, entry?.response.etag]).toEqual(['201 Created', 'W/"3"']);
    });

    it('reads and searches its own writes, at every position of the entry', async () => {
      const entries = await transact(
        get('Patient/seen'),
        get('Patient?_id=seen&_total=accurate'),
        get('Patient/seen/_history'),
        get('Patient/seen/_history/1'),
        put('Patient', 'seen'),
      );
      expect(statusesOf(entries)).toEqual(['200', '200', '200', '200', '201']);
      expect(entries.map(({ resource }) => resource?.resourceType)).toEqual([
        ...['Patient', 'Bundle', 'Bundle', 'Patient', undefined],
      ]);
      expect(entries[1]?.resource?.total).toBe(1);
    });

    it('accepts an empty list of entries, and none', async () => {
      expect(await transact()).toEqual([]);
      const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'transaction' });
      expect(entriesOf(answer)).toEqual([]);
    });

    const basicMembers = (n: number): object => (n % 7 === 0 ? { created: '9999-12-31' } : {});
    const observationMembers = (n: number): object => ({
      status: 'final',
      ...(n % 7 === 0 ? { effectiveDateTime: '1850-01-02' } : {}),
      ...(n % 4 === 1
        ? { valueQuantity: { value: n / 8, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' } }
        : {}),
      ...(n % 4 === 3 ? { valueString: `words ${n % 20}` } : {}),
    });

    it('stores hundreds of new resources of many shapes as single writes would', async () => {
      const resources = Array.from({ length: 700 }, (_, n) => ({
        ...{ resourceType: n % 3 === 0 ? 'Basic' : 'Observation', id: `many-${n}` },
        code: n % 2 === 0 ? { coding: [{ system: 's', code: `c${n}` }] } : { text: `code ${n}` },
        ...(n % 5 === 0 ? { subject: { reference: 'Patient/many' } } : {}),
        ...(n % 3 === 0 ? basicMembers(n) : observationMembers(n)),
      }));
      const entries = await transact(
        ...resources.map(({ resourceType, id, ...members }) => put(resourceType, id, members)),
      );
      expect(new Set(statusesOf(entries))).toEqual(new Set(['201']));
      // The resources are written again, one by one, under other ids: the search rows must be the same.
      for (const { resourceType, id, ...members } of resources.slice(0, 80)) {
        await app.put(`/fhir/${resourceType}/alone-${id}`, { resourceType, ...members });
      }
      const rowsOf = async (prefix: string): Promise<unknown> =>
        (
          await database.query(
            `select replace(r.id, 'alone-', '') as id, r.present, r.version, r.method,
               case when r.main_date = r.updated_at then null else r.main_date end as main_date,
               (select array_agg((token_hash, system_hash, patient_hash, s.main_date = r.main_date)::text order by token_hash) from search_token s where s.resource_key = r.resource_key) as tokens,
               (select array_agg((target_hash, parameter_id, s.main_date = r.main_date)::text order by target_hash, parameter_id) from reference_link s where s.resource_key = r.resource_key) as links,
               (select array_agg((low, high, parameter_id)::text order by parameter_id, low) from search_date s where s.resource_key = r.resource_key) as dates,
               (select array_agg((parameter_id, code_hash, value, unit_hash, s.main_date = r.main_date)::text order by parameter_id, code_hash) from search_number s where s.resource_key = r.resource_key) as numbers,
               (select array_agg((parameter_id, value)::text order by parameter_id, value) from search_string s where s.resource_key = r.resource_key) as strings
             from resource r where r.id = any($1) order by 1`,
            [resources.slice(0, 80).map(({ id }) => `${prefix}${id}`)],
          )
        ).rows;
      const together = await rowsOf('');
      expect(await rowsOf('alone-')).toEqual(together);
      expect(together).toHaveLength(80);
    });
  });

  describe('a patch', () => {
    const jsonPatch = (operations: object): object => ({
      resourceType: 'Binary',
      contentType: 'application/json-patch+json',
      data: Buffer.from(JSON.stringify(operations)).toString('base64'),
    });
    const patch = (url: string, resource: object, more: object = {}): Entry => ({
      resource,
      request: { method: 'PATCH', url, ...more },
    });
    const active = jsonPatch([{ op: 'replace', path: '/active', value: true }]);
    const gender = {
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'add' },
            { name: 'path', valueString: 'Patient' },
            { name: 'name', valueString: 'gender' },
            { name: 'value', valueCode: 'other' },
          ],
        },
      ],
    };

    it.each(['transaction', 'batch'])('of each form changes the stored resource, in a %s', async (type) => {
      const id = `patched-${type}`;
      await app.put(`/fhir/Patient/${id}`, patient({ active: false, multipleBirthInteger: 1 }));
      const entries = entriesOf(
        await send(type, [patch(`Patient/${id}`, active), patch(`Patient?_id=${id}`, gender, { ifMatch: 'W/"2"' })]),
      );
      expect(statusesOf(entries)).toEqual(['200', '200']);
      expect((await app.get(`/fhir/Patient/${id}`)).json()).toMatchObject({
        ...{ active: true, gender: 'other', meta: { versionId: '3' } },
      });
    });

    it('changes a resource that the same transaction wrote', async () => {
      const entries = await transact(
        put('Patient', 'patch-new', { active: false }),
        patch('Patient/patch-new', active),
      );
      expect(entries.map(({ response }) => response.etag)).toEqual(['W/"1"', 'W/"2"']);
    });

    it('by FHIRPath has its references resolved, even to later entries', async () => {
      const add = (name: string, reference: string): object => ({
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'add' },
          { name: 'path', valueString: 'Patient' },
          { name: 'name', valueString: name },
          { name: 'value', valueReference: { reference } },
        ],
      });
      const parameter = [
        add('managingOrganization', urn(1)),
        add('generalPractitioner', 'Practitioner?identifier=http://clinic.example/npi|patched'),
      ];
      const entries = await transact(
        put('Patient', 'patch-links'),
        patch('Patient/patch-links', { resourceType: 'Parameters', parameter }),
        { fullUrl: urn(1), ...post({ resourceType: 'Organization', name: 'Ward' }) },
        put('Practitioner', 'patched', { identifier: [{ system: 'http://clinic.example/npi', value: 'patched' }] }),
      );
      expect(await readOf(entries[1])).toMatchObject({
        managingOrganization: { reference: pathOf(entries[2] ?? { response: { status: '' } }).slice(1) },
        generalPractitioner: [{ reference: 'Practitioner/patched' }],
      });
    });

    it.each<[string, Entry, number]>([
      ['of an unknown id', patch('Patient/none', active), 404],
      ['without a match', patch('Patient?_id=none', active), 404],
      ['that cannot be applied', patch('Patient/patch-new', jsonPatch([{ op: 'remove', path: '/none' }])), 422],
      ['that is not a patch', patch('Patient/patch-new', patient()), 400],
    ])('%s fails the transaction', async (_what, wrong, status) => {
      const before = await counts();
      const answer = await send('transaction', [post(patient()), wrong]);
      expect([answer.status, await counts()]).toEqual([status, before]);
    });
  });

  describe('conditions of a transaction', () => {
    const identified = (value: string): object => ({ identifier: [{ system: 'http://clinic.example/mrn', value }] });
    const query = (value: string): string => `identifier=http://clinic.example/mrn|${value}`;

    it('create only if nothing matches, and references point to the match', async () => {
      await app.put('/fhir/Practitioner/there', { resourceType: 'Practitioner', ...identified('there') });
      const entries = await transact(
        {
          fullUrl: urn(10),
          ...post({ resourceType: 'Practitioner', ...identified('there') }, { ifNoneExist: query('there') }),
        },
        {
          fullUrl: urn(11),
          ...post({ resourceType: 'Practitioner', ...identified('new') }, { ifNoneExist: query('new') }),
        },
        {
          fullUrl: urn(12),
          ...post({ resourceType: 'Practitioner', ...identified('new') }, { ifNoneExist: query('new') }),
        },
        post(basic({ author: { reference: urn(10) } })),
        post(basic({ author: { reference: urn(12) } })),
      );
      expect(statusesOf(entries)).toEqual(['200', '201', '200', '201', '201']);
      expect(entries[0]?.response.location).toBe('Practitioner/there/_history/1');
      expect(entries[2]?.response.location).toBe(entries[1]?.response.location);
      expect(await readOf(entries[3])).toMatchObject({ author: { reference: 'Practitioner/there' } });
      expect(await readOf(entries[4])).toMatchObject({
        author: { reference: pathOf(entries[1] ?? { response: { status: '' } }).slice(1) },
      });
    });

    it('match the state before the transaction; in a batch also the writes of earlier entries', async () => {
      const entries = (id: string): Entry[] => [
        { resource: patient({ id, ...identified(id) }), request: { method: 'PUT', url: `Patient/${id}` } },
        remove(`Patient?${query(id)}`),
      ];
      expect(statusesOf(await transact(...entries('cond-within')))).toEqual(['201', '204']);
      expect(statusesOf(entriesOf(await send('batch', entries('cond-batch'))))).toEqual(['201', '200']);
    });

    it('decide which resource is replaced or deleted', async () => {
      await app.put('/fhir/Patient/cond-put', patient(identified('cond-put')));
      await app.put('/fhir/Patient/cond-delete', patient(identified('cond-delete')));
      const entries = await transact(
        {
          resource: patient({ ...identified('cond-put'), active: true }),
          request: { method: 'PUT', url: `Patient?${query('cond-put')}` },
        },
        {
          resource: patient({ ...identified('cond-new') }),
          request: { method: 'PUT', url: `Patient?${query('cond-new')}` },
        },
        remove(`Patient?${query('cond-delete')}`),
        remove(`Patient?${query('cond-nothing')}`),
      );
      expect(statusesOf(entries)).toEqual(['200', '201', '200', '204']);
      expect((await app.get('/fhir/Patient/cond-put')).json()).toMatchObject({
        active: true,
        meta: { versionId: '2' },
      });
      expect((await app.get('/fhir/Patient/cond-delete')).status).toBe(410);
    });

    it('resolve conditional references to stored resources and to those of the transaction', async () => {
      await app.put('/fhir/Organization/org', { resourceType: 'Organization', ...identified('org') });
      const entries = await transact(
        post(basic({ author: { reference: `Organization?${query('org')}` } })),
        post(basic({ subject: { reference: `Device?${query('made-here')}` } })),
        put('Device', 'made-here', identified('made-here')),
      );
      expect(await readOf(entries[0])).toMatchObject({ author: { reference: 'Organization/org' } });
      expect(await readOf(entries[1])).toMatchObject({ subject: { reference: 'Device/made-here' } });
    });

    it.each([
      ['nothing', 'no-such', 422],
      ['several', 'double', 412],
    ])('refuse a conditional reference that finds %s', async (_what, value, status) => {
      await app.put('/fhir/Location/double-1', { resourceType: 'Location', ...identified('double') });
      await app.put('/fhir/Location/double-2', { resourceType: 'Location', ...identified('double') });
      const before = await counts();
      const answer = await send('transaction', [
        post(patient()),
        post(basic({ subject: { reference: `Location?${query(value)}` } })),
      ]);
      expect([answer.status, answer.json<Outcome>().issue[0]?.expression?.[0]]).toEqual([
        status,
        expect.stringMatching(/^Bundle\.entry\[1\]/),
      ]);
      expect(await counts()).toEqual(before);
    });

    it('leave conditional references unchanged in a batch', async () => {
      const reference = `Organization?${query('org')}`;
      const [entry] = entriesOf(await send('batch', [post(basic({ author: { reference } }))]));
      expect(await readOf(entry)).toMatchObject({ author: { reference } });
    });
  });

  it.each(['batch', 'transaction'] as const)('an entry of a %s takes its URL below either root', async (type) => {
    const urls = ['Patient/based', '/Patient/based', '/fhir/Patient/based', `${BASE_URL}/fhir/Patient/based`];
    for (const url of urls) {
      const [written] = entriesOf(
        await send(type, [{ resource: patient({ id: 'based' }), request: { method: 'PUT', url } }]),
      );
      const [read] = entriesOf(await send(type, [get(url)]));
      expect([url, written?.response.status, read?.response.status]).toEqual([
        url,
        expect.stringMatching(/^20[01]/),
        '200 OK',
      ]);
    }
    const { text } = await send(type, [get('http://other.example/fhir/Patient/1')]);
    expect(text).toContain(`request.url is not below ${BASE_URL}. Make it relative, such as Patient/p7.`);
  });

  describe('a transaction that fails', () => {
    beforeAll(async () => {
      await app.put('/fhir/Patient/stored', patient({ active: true }));
    });

    it.each<[string, Entry, number, string]>([
      ['a duplicate id', post(patient({ id: 'stored' })), 409, 'Bundle.entry[2]'],
      ['another version', put('Patient', 'stored', { active: false }), 412, 'Bundle.entry[2]'],
      ['If-Match on an unknown id', remove('Patient/none', { ifMatch: 'W/"1"' }), 412, 'Bundle.entry[2]'],
      ['an unknown type', put('Nothing', 'x'), 404, 'Bundle.entry[2]'],
      ['a read of an unknown id', get('Patient/none'), 404, 'Bundle.entry[2].request'],
      ['a read-only type', put('SDCAddendum', 'x'), 405, 'Bundle.entry[2]'],
      [
        'content that breaks a rule',
        put('AccessPolicy', 'x', { engine: 'none' }),
        422,
        'Bundle.entry[2].resource.engine',
      ],
      [
        'another type than the URL',
        { resource: patient(), request: { method: 'PUT', url: 'Basic/x' } },
        400,
        'Bundle.entry[2].resource.resourceType',
      ],
      [
        'another id than the URL',
        { resource: patient({ id: 'a' }), request: { method: 'PUT', url: 'Patient/b' } },
        400,
        'Bundle.entry[2].resource.id',
      ],
      ['a bad id', put('Patient', 'a b'), 400, 'Bundle.entry[2].resource.id'],
      ['no resource', { request: { method: 'POST', url: 'Patient' } }, 400, 'Bundle.entry[2].resource'],
      ['no request', { resource: patient() }, 400, 'Bundle.entry[2].request'],
      ['no method', { request: { url: 'Patient' } }, 400, 'Bundle.entry[2].request.method'],
      ['no URL', { request: { method: 'GET' } }, 400, 'Bundle.entry[2].request.url'],
      ['HEAD', { request: { method: 'HEAD', url: 'Patient/stored' } }, 405, 'Bundle.entry[2].request.method'],
      ['an operation', get('Patient/stored/$everything'), 405, 'Bundle.entry[2].request.url'],
      ['a URL of another server', get('http://other.example/fhir/Patient/1'), 400, 'Bundle.entry[2].request.url'],
      [
        'an invalid URL',
        { resource: patient(), request: { method: 'PUT', url: 'Patient' } },
        400,
        'Bundle.entry[2].request.url',
      ],
      ['a bad etag', remove('Patient/stored', { ifMatch: 'W/x' }), 400, 'Bundle.entry[2].request.ifMatch'],
      ['an unknown search parameter', remove('Patient?nonsense=1'), 400, 'Bundle.entry[2]'],
    ])('by %s stores nothing, and names the entry', async (_why, wrong, status, expression) => {
      const guarded =
        status === 412 && wrong.resource !== undefined
          ? { ...wrong, request: { ...wrong.request, ifMatch: 'W/"7"' } }
          : wrong;
      const before = await counts();
      const answer = await send('transaction', [
        post(patient({ active: true })),
        put('Patient', 'stored', { gender: 'male' }),
        guarded,
        remove('Patient/stored'),
      ]);
      const [issue, ...others] = answer.json<Outcome>().issue;
      expect([answer.status, issue?.expression, others]).toEqual([status, [expression], []]);
      expect(issue?.diagnostics).toContain('Bundle.entry[2]');
      expect(await counts()).toEqual(before);
    });

    it('rolls back all versions that it wrote of one id', async () => {
      const before = await counts();
      const answer = await send('transaction', [
        put('Patient', 'rolled-back'),
        put('Patient', 'rolled-back', { active: true }),
        post(patient({ id: 'rolled-back' })),
      ]);
      expect(answer.status).toBe(409);
      expect(await counts()).toEqual(before);
    });
  });

  it.each<[string, object | string, number, string[] | undefined]>([
    ['is not a Bundle', { resourceType: 'Patient' }, 400, ['resourceType']],
    ['has no type', { resourceType: 'Bundle' }, 400, ['Bundle.type']],
    ['is a searchset', { resourceType: 'Bundle', type: 'searchset' }, 400, ['Bundle.type']],
    ['has entries that are not a list', { resourceType: 'Bundle', type: 'batch', entry: {} }, 400, ['Bundle.entry']],
    ['is not JSON', '{"resourceType":', 400, undefined],
    [
      'has a duplicate key',
      '{"resourceType":"Bundle","type":"batch","entry":[{"request":1,"request":2}]}',
      400,
      undefined,
    ],
    [
      'has an entry that is not an object',
      { resourceType: 'Bundle', type: 'batch', entry: [1] },
      400,
      ['Bundle.entry[0].request'],
    ],
  ])('a body that %s is refused', async (_what, body, status, expression) => {
    const answer = await app.post('/fhir', body);
    expect([answer.status, answer.json<Outcome>().issue[0]?.expression]).toEqual([status, expression]);
  });

  describe('a batch', () => {
    it('processes each entry independently, and returns its failures', async () => {
      await app.put('/fhir/Patient/batch-1', patient());
      const answer = await send('batch', [
        put('Patient', 'batch-1', { active: true }),
        post(patient({ id: 'batch-1' })),
        put('Patient', 'batch-2'),
        put('SDCAddendum', 'x'),
        put('AccessPolicy', 'x', { engine: 'none' }),
        get('Patient/batch-none'),
        get('Patient/batch-1'),
        remove('Patient/batch-2'),
        put('Patient', 'batch-1', { active: false }),
        { request: { method: 'HEAD', url: 'Patient/batch-1' } },
        { request: { method: 'POST', url: 'auth/token' }, resource: patient() },
        get('metadata'),
        get('Patient/batch-1/$everything'),
        put('Patient', 'batch-1', { active: false }),
      ]);
      const entries = entriesOf(answer);
      expect(answer.json<AnswerBundle>().type).toBe('batch-response');
      expect(statusesOf(entries)).toEqual([
        ...['200', '409', '201', '405', '422', '404', '200', '200', '200', '405', '400', '200', '200', '200'],
      ]);
      expect(entries[1]?.response.outcome?.issue[0]?.code).toBe('duplicate');
      expect(entries[6]?.resource).toMatchObject({ id: 'batch-1', active: true });
      expect(entries[12]?.resource?.resourceType).toBe('Bundle');
      expect(entries[13]?.response.etag).toBe('W/"3"');
    });

    it('applies ifMatch, ifNoneMatch and ifNoneExist', async () => {
      await app.put('/fhir/Patient/batch-if', patient());
      const entries = entriesOf(
        await send('batch', [
          {
            ...put('Patient', 'batch-if', { active: true }),
            request: { method: 'PUT', url: 'Patient/batch-if', ifMatch: 'W/"9"' },
          },
          {
            ...put('Patient', 'batch-if', { active: true }),
            request: { method: 'PUT', url: 'Patient/batch-if', ifMatch: 'W/"1"' },
          },
        ]),
      );
      expect(statusesOf(entries)).toEqual(['412', '200']);
    });

    it('does not resolve fullUrls of its entries', async () => {
      const entries = entriesOf(
        await send('batch', [
          { fullUrl: urn(20), ...post(patient()) },
          post(basic({ subject: { reference: urn(20) } })),
        ]),
      );
      expect(await readOf(entries[1])).toMatchObject({ subject: { reference: urn(20) } });
    });
  });

  it('a collection is stored by PUT of every resource, all or none', async () => {
    const collection = (...resources: object[]): object => ({
      resourceType: 'Bundle',
      type: 'collection',
      entry: resources.map((resource) => ({ resource })),
    });
    const answer = await app.post('/fhir', collection(patient({ id: 'collected' }), patient()));
    expect(statusesOf(entriesOf(answer))).toEqual(['201', '201']);
    expect((await app.get('/fhir/Patient/collected')).status).toBe(200);
    const before = await counts();
    const refused = await app.post('/fhir', collection(patient(), { resourceType: 'SDCAddendum' }));
    expect([refused.status, await counts()]).toEqual([405, before]);
  });

  describe('access', () => {
    it('is decided for each entry', async () => {
      const nurse = await login(app, 'bundle-nurse', { policies: [] });
      const authorization = nurse.bearer;
      await app.put('/fhir/AccessPolicy/bundle-operations', {
        engine: 'allow',
        link: ['FhirBundle', 'FhirCreate', 'FhirRead'].map((id) => ({ resourceType: 'Operation', id })),
      });
      await app.put('/fhir/Patient/rights', patient());
      const allowed = [post(patient()), post(patient()), get('Patient/rights')];
      const denied = put('Patient', 'rights', { active: true });
      const before = await counts();
      const refused = await send('transaction', [...allowed, denied], { authorization });
      expect([refused.status, refused.json<Outcome>().issue[0]?.expression]).toEqual([403, ['Bundle.entry[3]']]);
      expect(await counts()).toEqual(before);
      expect(statusesOf(entriesOf(await send('transaction', allowed, { authorization })))).toEqual([
        '201',
        '201',
        '200',
      ]);
      const batch = await send('batch', [...allowed, denied, get('Patient?_id=rights')], { authorization });
      expect(statusesOf(entriesOf(batch))).toEqual(['201', '201', '200', '403', '403']);
      await app.delete('/fhir/AccessPolicy/bundle-operations');
      expect((await send('batch', allowed, { authorization })).status).toBe(403);
    });

    it('requires credentials', async () => {
      expect((await send('batch', [], { authorization: null })).status).toBe(401);
    });
  });
});
