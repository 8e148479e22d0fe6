import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle, storeTogether } from '../../support/bundle';
import { ResourceDraft } from '../../../src/model/resource-draft';
import { ConditionMatches } from '../../../src/rest/conditional/condition-matches';
import { ConditionalWriter } from '../../../src/rest/conditional/conditional-writer';
import { UnitOfWork } from '../../../src/platform/database/unit-of-work';
import { readJson } from '../../../src/platform/json/read-json';
import { BASE_URL, startTestApp, type Received, type TestApp } from '../../../testing/test-app';

const SYSTEM = 'http://clinic.example/mrn';
const criteria = (value: string): string => `identifier=${encodeURIComponent(`${SYSTEM}|${value}`)}`;
const patient = (value: string, more: object = {}): object => ({
  resourceType: 'Patient',
  identifier: [{ system: SYSTEM, value }],
  ...more,
});
const ifNoneExist = (value: string): { headers: Record<string, string> } => ({
  headers: { 'If-None-Exist': criteria(value) },
});
const statuses = (answers: readonly Received[]): number[] => answers.map(({ status }) => status).sort((a, b) => a - b);
const issueOf = (answer: Received): unknown => answer.json<{ issue: { code: string }[] }>().issue[0]?.code;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

describe('conditional writes', () => {
  let app: TestApp;
  /** A second server on the same database. */
  let other: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    other = await startTestApp({ databaseUrl: app.databaseUrl });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const found = async (query: string): Promise<Bundle> => (await app.get(`/Patient?${query}`)).json<Bundle>();
  const twins = async (value: string): Promise<void> => {
    for (const id of [`${value}-a`, `${value}-b`]) await app.put(`/Patient/${id}`, patient(value));
  };

  describe('create', () => {
    it('matches a code by the system that R4 implies for its element', async () => {
      for (const gender of ['male', '']) {
        const value = `implied-${gender}`;
        const system = encodeURIComponent(`http://hl7.org/fhir/administrative-gender|${gender}`);
        const headers = { 'If-None-Exist': `${criteria(value)}&gender=${system}` };
        const body = patient(value, { gender: 'male' });
        const answers = [await app.post('/Patient', body, { headers }), await app.post('/Patient', body, { headers })];
        expect(statuses(answers)).toEqual([200, 201]);
      }
    });

    it('stores if nothing matches, and returns the one match without a write', async () => {
      const first = await app.post('/fhir/Patient', patient('create'), ifNoneExist('create'));
      const { id } = first.json<{ id: string }>();
      expect([first.status, first.headers.get('etag')]).toEqual([201, 'W/"1"']);
      for (const again of [
        await app.post('/fhir/Patient', patient('create', { active: true }), ifNoneExist('create')),
        await app.post(`/fhir/Patient?${criteria('create')}`, patient('create', { active: true })),
      ]) {
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([200, first.text, 'W/"1"']);
        const location = `${BASE_URL}/fhir/Patient/${id}/_history/1`;
        expect([again.headers.get('location'), again.headers.get('content-location')]).toEqual([location, location]);
      }
      expect((await found(criteria('create'))).total).toBe(1);
    });

    it('refuses several matches', async () => {
      await twins('create-twins');
      const refused = await app.post('/Patient', patient('create-twins'), ifNoneExist('create-twins'));
      expect([refused.status, issueOf(refused)]).toEqual([412, 'multiple-matches']);
    });

    it('creates again after a deletion, and after a change that no longer matches', async () => {
      const first = await app.post('/Patient', patient('again'), ifNoneExist('again'));
      await app.delete(`/Patient/${first.json<{ id: string }>().id}`);
      const second = await app.post('/Patient', patient('again'), ifNoneExist('again'));
      await app.put(`/Patient/${second.json<{ id: string }>().id}`, patient('moved on'));
      const third = await app.post('/Patient', patient('again'), ifNoneExist('again'));
      expect([first, second, third].map(({ status }) => status)).toEqual([201, 201, 201]);
    });

    it('accepts several criteria, references, and a leading question mark', async () => {
      await app.put('/Patient/subject', patient('subject'));
      const observation = { resourceType: 'Observation', status: 'final', code: { coding: [{ code: 'c1' }] } };
      const body = { ...observation, subject: { reference: 'Patient/subject' } };
      const answers = [];
      for (const condition of ['subject=Patient/subject&code=c1', '?code=c1&patient=subject', 'Observation?code=c1']) {
        answers.push(await app.post('/Observation', body, { headers: { 'If-None-Exist': condition } }));
      }
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
    });

    it.each([
      ['no criteria', ''],
      ['an unknown parameter', 'identifer=1'],
      ['a parameter without a value', 'identifier='],
      ['an empty parameter among others', `${criteria('x')}&active=`],
      ['_count', `${criteria('x')}&_count=1`],
      ['_sort', `${criteria('x')}&_sort=_id`],
      ['percent-encoded bytes that are not UTF-8', 'identifier=%ED%A0%80'],
      ['characters beyond ASCII that are not percent-encoded', 'identifier=\u00e9'],
    ])('refuses %s with 400 and stores nothing', async (_case, condition) => {
      const refused = await app.post('/Patient', patient('refused'), { headers: { 'If-None-Exist': condition } });
      expect(refused.status).toBe(400);
      expect((await found(criteria('refused'))).total).toBe(0);
    });

    it.each(['batch', 'transaction'])('accepts characters beyond ASCII in a %s', async (type) => {
      const value = `${type} \u00e9\u{1f600}`;
      const ifNoneExist = `identifier=${SYSTEM}|${value}`;
      const entry = { resource: patient(value), request: { method: 'POST', url: 'Patient', ifNoneExist } };
      await app.post('/', { resourceType: 'Bundle', type, entry: [entry] });
      await app.post('/', { resourceType: 'Bundle', type, entry: [entry] });
      expect((await found(criteria(value))).total).toBe(1);
    });

    it.each(['batch', 'transaction'])('refuses percent-encoded bytes that are not UTF-8 in a %s', async (type) => {
      const request = { method: 'POST', url: 'Patient', ifNoneExist: 'identifier=%ED%A0%80' };
      const entry = [{ resource: patient('refused'), request }];
      expect((await app.post('/', { resourceType: 'Bundle', type, entry })).text).toContain('is no UTF-8');
      expect((await found(criteria('refused'))).total).toBe(0);
    });

    it('refuses criteria in both URL and header', async () => {
      const refused = await app.post(`/Patient?${criteria('both')}`, patient('both'), ifNoneExist('both'));
      expect(refused.status).toBe(400);
    });

    it('stores exactly one resource for sixteen concurrent callers, on two servers, for each of sixty conditions', async () => {
      const duplicates: string[] = [];
      for (const condition of times(60, (n) => `race-${n}`)) {
        const answers = await Promise.all(
          times(16, (n) => (n % 2 === 0 ? app : other).post('/Patient', patient(condition), ifNoneExist(condition))),
        );
        const ids = new Set(answers.map((answer) => answer.json<{ id: string }>().id));
        const isRight = ids.size === 1 && statuses(answers).join() === [...times(15, () => 200), 201].join();
        if (!isRight || (await found(criteria(condition))).total !== 1) duplicates.push(condition);
      }
      expect(duplicates).toEqual([]);
    }, 120_000);

    it('compares the values if two values have the same hash', async () => {
      await app.put('/Patient/hash-1', patient('hash one'));
      await app.put('/Patient/hash-2', patient('hash two'));
      const client = await app.connect();
      // Gives hash-1 the index rows of hash-2, as if the hashes of both values were equal.
      await client.query(`insert into search_token
        select t.token_hash, mine.main_date, mine.resource_key, t.patient_hash, t.system_hash
        from search_token t join resource other using (resource_key), resource mine
        where other.id = 'hash-2' and mine.id = 'hash-1' on conflict do nothing`);
      await client.end();
      await app.delete('/Patient/hash-2');
      expect((await found(criteria('hash two'))).total).toBe(1);
      const created = await app.post('/Patient', patient('hash two'), ifNoneExist('hash two'));
      expect(created.status).toBe(201);
      expect((await app.delete(`/Patient?${criteria('hash two')}`)).text).toBe(created.text);
      expect((await app.get('/Patient/hash-1')).status).toBe(200);
    });

    it('treats conditions as the same regardless of order, repetition and encoding', async () => {
      const [value, system] = ['spelled', encodeURIComponent(SYSTEM)];
      const spellings = [
        `active=true&identifier=${system}%7C${value}`,
        `identifier=${SYSTEM}|${value}&active=true`,
        `identifier=${SYSTEM}|${value}&active=true&active=true`,
        `identifier=${SYSTEM}|${value},${SYSTEM}|${value}&active=true`,
      ];
      const answers = await Promise.all(
        times(16, (n) => {
          const headers = { 'If-None-Exist': spellings[n % spellings.length] ?? '' };
          return app.post('/Patient', patient(value, { active: true }), { headers });
        }),
      );
      expect(statuses(answers)).toEqual([...times(15, () => 200), 201]);
    });
  });

  describe('update', () => {
    it('creates without a match, replaces the one match, and creates no version if nothing changes', async () => {
      const url = `/fhir/Patient?${criteria('update')}`;
      const created = await app.put(url, patient('update'));
      const { id } = created.json<{ id: string }>();
      expect([created.status, created.headers.get('location')]).toEqual([
        201,
        `${BASE_URL}/fhir/Patient/${id}/_history/1`,
      ]);
      const updated = await app.put(url, patient('update', { active: true }));
      expect([updated.status, updated.headers.get('etag'), updated.json()]).toEqual([
        200,
        'W/"2"',
        expect.objectContaining({ id, active: true }),
      ]);
      expect((await app.put(url, patient('update', { active: true }))).headers.get('etag')).toBe('W/"2"');
      const history = (await app.get(`/Patient/${id}/_history`)).json<Bundle<{ request: { method: string } }>>();
      expect(history.entry.map(({ request }) => request.method)).toEqual(['PUT', 'PUT']);
    });

    it('creates with the id of the body, unless another resource has it', async () => {
      const created = await app.put(`/Patient?${criteria('own id')}`, patient('own id', { id: 'own-id' }));
      expect([created.status, created.json<{ id: string }>().id]).toEqual([201, 'own-id']);
      const taken = await app.put(`/Patient?${criteria('another')}`, patient('another', { id: 'own-id' }));
      expect([taken.status, issueOf(taken)]).toEqual([409, 'duplicate']);
    });

    it('accepts the id of the match in the body, and refuses another id with 400', async () => {
      await app.put('/Patient/match', patient('match'));
      const url = `/Patient?${criteria('match')}`;
      expect((await app.put(url, patient('match', { id: 'match', active: true }))).status).toBe(200);
      expect((await app.put(url, patient('match', { id: 'other' }))).status).toBe(400);
    });

    it('refuses several matches, and missing criteria', async () => {
      await twins('update-twins');
      const refused = await app.put(`/Patient?${criteria('update-twins')}`, patient('update-twins'));
      expect([refused.status, issueOf(refused)]).toEqual([412, 'multiple-matches']);
      expect((await app.put('/Patient', patient('none'))).status).toBe(400);
    });

    it('applies If-Match and If-None-Match', async () => {
      const url = `/Patient?${criteria('versions')}`;
      const put = (headers: Record<string, string>, active: boolean): Promise<Received> =>
        app.put(url, patient('versions', { active }), { headers });
      expect((await put({ 'If-Match': 'W/"1"' }, true)).status).toBe(412);
      expect((await put({ 'If-None-Match': '*' }, true)).status).toBe(201);
      expect((await put({ 'If-None-Match': '*' }, false)).status).toBe(412);
      expect((await put({ 'If-Match': 'W/"7"' }, false)).status).toBe(412);
      expect((await put({ 'If-Match': 'W/"1"' }, false)).status).toBe(200);
    });

    it('creates once for sixteen concurrent callers, and loses no version', async () => {
      const url = `/Patient?${criteria('put-race')}`;
      const bodies = times(16, (n) => patient('put-race', { name: [{ family: `caller ${n}` }] }));
      const answers = await Promise.all(bodies.map((body, n) => (n % 2 === 0 ? app : other).put(url, body)));
      expect(statuses(answers)).toEqual([...times(15, () => 200), 201]);
      const versions = answers.map(({ headers }) => Number(/\d+/.exec(headers.get('etag') ?? '')?.[0]));
      expect(versions.sort((a, b) => a - b)).toEqual(times(16, (n) => n + 1));
    });
  });

  describe('patch', () => {
    const rename = (family: string): object => ({ name: [{ family }] });

    it('patches the one match; no match is 404, several are 412', async () => {
      await app.put('/Patient/patched', patient('patched'));
      await twins('patch-twins');
      const patch = (value: string): Promise<Received> =>
        app.send('PATCH', `/Patient?${criteria(value)}`, { body: rename('New') });
      const patched = await patch('patched');
      expect([patched.status, patched.headers.get('etag'), patched.json()]).toEqual([
        200,
        'W/"2"',
        expect.objectContaining({ id: 'patched', ...rename('New') }),
      ]);
      const [none, several] = [await patch('nobody'), await patch('patch-twins')];
      expect([none.status, issueOf(none), several.status, issueOf(several)]).toEqual([
        404,
        'not-found',
        412,
        'multiple-matches',
      ]);
      expect((await app.send('PATCH', '/Patient', { body: rename('New') })).status).toBe(400);
    });
  });

  describe('on long resources that do not fit on one page', () => {
    const all = { headers: { 'x-conditional-delete': 'remove-all' } };
    const long = (tag: string): object => ({
      resourceType: 'Binary',
      meta: { tag: [{ code: tag }] },
      contentType: 'text/plain',
      data: 'AAAA'.repeat(2_250_000),
    });

    it('refuses several matches, and deletes them all on request', async () => {
      for (const id of ['long-1', 'long-2', 'long-3']) await app.put(`/Binary/${id}`, long('long'));
      const refused = await app.put('/Binary?_tag=long', long('long'));
      expect([refused.status, issueOf(refused)]).toEqual([412, 'multiple-matches']);
      expect((await app.delete('/Binary?_tag=long', all)).text).toContain('3 resources were deleted');
      expect((await app.get('/Binary?_tag=long&_summary=count')).json<Bundle>().total).toBe(0);
    }, 120_000);
  });

  describe('delete', () => {
    it('deletes the one match and returns it; no match is 204', async () => {
      const stored = await app.put('/Patient/deleted', patient('deleted'));
      const deleted = await app.delete(`/Patient?${criteria('deleted')}`);
      expect([deleted.status, deleted.text]).toEqual([200, stored.text]);
      expect((await app.get('/Patient/deleted')).status).toBe(410);
      expect((await app.delete(`/Patient?${criteria('deleted')}`)).status).toBe(204);
    });

    it('refuses several matches, and deletes them all if the header allows it', async () => {
      await twins('delete-twins');
      const url = `/Patient?${criteria('delete-twins')}`;
      const refused = await app.delete(url);
      expect([refused.status, issueOf(refused)]).toEqual([412, 'multiple-matches']);
      expect((await found(criteria('delete-twins'))).total).toBe(2);
      const all = { headers: { 'x-conditional-delete': 'remove-all' } };
      const deleted = await app.delete(url, all);
      expect([deleted.status, deleted.json<{ issue: unknown }>().issue]).toEqual([
        200,
        [{ severity: 'information', code: 'informational', diagnostics: '2 resources were deleted.' }],
      ]);
      expect((await found(criteria('delete-twins'))).total).toBe(0);
      expect((await app.delete(url, all)).status).toBe(204);
      expect((await app.delete(url, { headers: { 'x-conditional-delete': 'everything' } })).status).toBe(400);
    });

    it('deletes nothing if more than 1,000 match', async () => {
      const tagged = { resourceType: 'Basic', meta: { tag: [{ code: 'many' }] }, code: { text: 'x' } };
      await storeTogether(
        app,
        times(1025, (n) => ({
          resource: { ...tagged, id: `many-${n}` },
          request: { method: 'PUT', url: `Basic/many-${n}` },
        })),
      );
      const all = { headers: { 'x-conditional-delete': 'remove-all' } };
      // The delete counts the matches before it locks them, so a transaction that locks one of the rows delays nothing.
      const holder = await app.connect();
      await holder.query(`begin; select id from resource where type = 'Basic' for update`);
      const refused = await app.delete('/Basic?_tag=many', all);
      await holder.end();
      expect([refused.status, issueOf(refused)]).toEqual([412, 'multiple-matches']);
      expect((await app.get('/Basic?_tag=many&_count=1')).json<Bundle>().total).toBe(1025);
      await storeTogether(
        app,
        times(25, (n) => ({ request: { method: 'DELETE', url: `Basic/many-${n}` } })),
      );
      expect((await app.delete('/Basic?_tag=many', all)).text).toContain('1000 resources were deleted');
      expect((await app.get('/Basic?_tag=many')).json<Bundle>().total).toBe(0);
    }, 120_000);

    it('returns 204 with _no-content=true, in both forms', async () => {
      for (const id of ['quiet-1', 'quiet-2']) await app.put(`/Patient/${id}`, patient(id));
      const [byId, byCriteria] = [
        await app.delete('/Patient/quiet-1?_no-content=true'),
        await app.delete(`/Patient?${criteria('quiet-2')}&_no-content=true`),
      ];
      expect([byId.status, byId.text, byCriteria.status, byCriteria.text]).toEqual([204, '', 204, '']);
      expect((await found(criteria('quiet-2'))).total).toBe(0);
    });

    it('never deletes without criteria', async () => {
      await app.put('/Patient/kept', patient('kept'));
      for (const path of [
        '/Patient',
        '/Patient?',
        '/Patient?identifier=',
        '/Patient?_no-content=true',
        '/fhir/Patient',
      ]) {
        const all = { headers: { 'x-conditional-delete': 'remove-all' } };
        expect([path, (await app.delete(path, all)).status]).toEqual([path, 400]);
      }
      expect((await app.get('/Patient/kept')).status).toBe(200);
    });

    it('deletes once for sixteen concurrent callers', async () => {
      await app.put('/Patient/delete-race', patient('delete-race'));
      const answers = await Promise.all(
        times(16, (n) => (n % 2 === 0 ? app : other).delete(`/Patient?${criteria('delete-race')}`)),
      );
      expect(statuses(answers)).toEqual([200, ...times(15, () => 204)]);
    });

    it('deletes no resource that stopped matching while it waited', async () => {
      // In each round, one caller changes the resource so that it no longer matches, while another deletes by the
      // condition.
      for (const n of times(30, (index) => index)) {
        const id = `moving-${n}`;
        await app.put(`/Patient/${id}`, patient(id));
        const [deleted, moved] = await Promise.all([
          other.delete(`/Patient?${criteria(id)}`),
          app.put(`/Patient/${id}`, patient('elsewhere'), { headers: { 'If-Match': 'W/"1"' } }),
        ]);
        // One of the two requests came first, and the other found nothing to change.
        expect([
          [200, 412],
          [204, 200],
        ]).toContainEqual([deleted.status, moved.status]);
      }
    });
  });

  it('ends in a state that some order explains if creates, updates and deletes of one condition are concurrent', async () => {
    const url = `/Patient?${criteria('mixed')}`;
    const calls = times(48, (n) => {
      const server = n % 2 === 0 ? app : other;
      if (n % 3 === 0) return server.post('/Patient', patient('mixed'), ifNoneExist('mixed'));
      return n % 3 === 1 ? server.put(url, patient('mixed', { active: n % 4 === 0 })) : server.delete(url);
    });
    const answers = await Promise.all(calls);
    const count = (wanted: number, kind: number): number =>
      answers.filter(({ status }, n) => status === wanted && n % 3 === kind).length;
    const created = count(201, 0) + count(201, 1);
    expect(answers.filter(({ status }) => ![200, 201, 204].includes(status))).toEqual([]);
    expect((await found(criteria('mixed'))).total).toBe(created - count(200, 2));
  });

  it('of several conditions in one transaction cannot deadlock if all are locked first', async () => {
    const [writer, unitOfWork] = [app.app.get(ConditionalWriter, { strict: false }), app.app.get(UnitOfWork)];
    const matches = app.app.get(ConditionMatches, { strict: false });
    let runs = 0;
    const unit = (n: number): Promise<void> =>
      unitOfWork.run(async () => {
        runs++;
        const values = times(4, (index) => `circle-${(index + n) % 4}`);
        await matches.lock(values.map((value) => ({ type: 'Patient', criteria: criteria(value) })));
        for (const value of values) {
          const draft = ResourceDraft.of(readJson(JSON.stringify(patient(value))), 'Patient');
          await writer.create(draft, criteria(value));
        }
      });
    await Promise.all(times(16, unit));
    // A deadlock would have repeated a transaction.
    expect(runs).toBe(16);
    for (const n of times(4, (index) => index)) expect((await found(criteria(`circle-${n}`))).total).toBe(1);
  });

  it('creates only once with If-None-Match: * on concurrent PUTs by id', async () => {
    const once = { headers: { 'If-None-Match': '*' } };
    const answers = await Promise.all(
      times(16, (n) => app.put('/Patient/create-only', patient('create-only', { name: [{ family: `${n}` }] }), once)),
    );
    expect(statuses(answers)).toEqual([201, ...times(15, () => 412)]);
    const headers = { 'If-None-Match': 'W/"1"' };
    expect((await app.put('/Patient/create-only', patient('x'), { headers })).status).toBe(412);
    expect(
      (await app.put('/Patient/create-only', patient('x'), { headers: { 'If-None-Match': 'W/"9"' } })).status,
    ).toBe(200);
  });

  it('are not allowed on types that only the server writes', async () => {
    const answers = [
      await app.post('/SDCAddendum?_id=x', {}),
      await app.put('/SDCAddendum?_id=x', {}),
      await app.send('PATCH', '/SDCAddendum?_id=x', { body: {} }),
      await app.send('PATCH', '/SDCAddendum/x', { body: {} }),
      await app.delete('/SDCAddendum?_id=x'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual(
      answers.map(() => [405, 'GET, HEAD']),
    );
  });

  it('store a password, but never return it', async () => {
    const user = { userName: 'cond', email: 'cond@clinic.example', password: 'long enough' };
    const created = await app.put('/User?_id=cond-user', { ...user, id: 'cond-user' });
    expect([created.status, created.text.includes('long enough')]).toEqual([201, false]);
    const again = await app.put('/User?_id=cond-user', { ...user, id: 'cond-user' });
    expect([again.status, again.headers.get('etag')]).toEqual([200, 'W/"1"']);
  });
});
