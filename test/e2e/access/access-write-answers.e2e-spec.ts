import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

const PATIENT = { resourceType: 'Patient', name: [{ family: 'Rivera' }], gender: 'female' };
const MERGE = 'application/merge-patch+json';
const REPRESENTATION = { Prefer: 'return=representation' };

const policyOf = (...methods: string[]): object => ({
  engine: 'matcho',
  matcho: { 'request-method': { $enum: [...methods, 'post'] } },
});

describe('the response to a write', () => {
  let app: TestApp;
  let writer: Person;
  let reader: Person;

  beforeAll(async () => {
    app = await startTestApp();
    writer = await login(app, 'writer', { policies: [policyOf('patch', 'delete')] });
    reader = await login(app, 'reader', { policies: [policyOf('patch', 'delete', 'get')] });
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    await app.put('/Patient/p1', PATIENT);
  });

  const sendAs = (
    { bearer }: Person,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Received> => app.send(method, path, { authorization: bearer, headers, ...(body && { body }) });

  const patch = (person: Person, path: string): Promise<Received> =>
    sendAs(person, 'PATCH', path, { active: true }, { 'Content-Type': MERGE });

  it.each(['/Patient/p1', '/Patient?_id=p1'])(
    'PATCH %s returns the resource only to callers who may read it',
    async (path) => {
      const { status, text, headers } = await patch(writer, path);
      expect([status, text, headers.get('etag')]).toEqual([200, '', expect.any(String)]);
      expect((await patch(reader, path)).text).toContain('Rivera');
    },
  );

  it.each(['/Patient/p1', '/Patient?_id=p1'])(
    'DELETE %s returns the resource only to callers who may read it',
    async (path) => {
      const hidden = await sendAs(writer, 'DELETE', path);
      expect([hidden.status, hidden.text]).toEqual([204, '']);
      await app.put('/Patient/p1', PATIENT);
      expect((await sendAs(reader, 'DELETE', path)).text).toContain('Rivera');
    },
  );

  it.each([
    ['batch', 'PATCH'],
    ['batch', 'DELETE'],
    ['transaction', 'PATCH'],
    ['transaction', 'DELETE'],
  ])('in a %s, %s returns the resource only to callers who may read it', async (type, method) => {
    const resource = {
      resourceType: 'Binary',
      contentType: MERGE,
      data: Buffer.from('{"active":true}').toString('base64'),
    };
    const entry = [{ request: { method, url: 'Patient/p1' }, ...(method === 'PATCH' && { resource }) }];
    const bundle = { resourceType: 'Bundle', type, entry };
    const hidden = await sendAs(writer, 'POST', '/fhir', bundle, REPRESENTATION);
    expect([hidden.status, hidden.text]).toEqual([200, expect.not.stringContaining('Rivera')]);
    if (method === 'PATCH') {
      const { lastUpdated } = (await app.get('/Patient/p1')).json<{ meta: { lastUpdated: string } }>().meta;
      expect(hidden.json()).toMatchObject({ entry: [{ response: { lastModified: lastUpdated } }] });
    }
    await app.put('/Patient/p1', PATIENT);
    const shown = await sendAs(reader, 'POST', '/fhir', bundle, REPRESENTATION);
    if (method === 'PATCH') expect(shown.text).toContain('Rivera');
  });

  it('in a transaction, a patch with a reference to a later entry returns the resource only to callers who may read it', async () => {
    const ofWards = {
      engine: 'matcho',
      matcho: { 'request-method': 'get', params: { 'resource/type': 'Organization' } },
    };
    const person = await login(app, 'ward-reader', { policies: [policyOf('patch', 'put'), ofWards] });
    const part = [
      { name: 'type', valueCode: 'add' },
      { name: 'path', valueString: 'Patient' },
      { name: 'name', valueString: 'managingOrganization' },
      { name: 'value', valueReference: { reference: 'Organization?name=Late' } },
    ];
    const resource = { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
    const ward = { resourceType: 'Organization', id: 'late', name: 'Late' };
    const entry = [
      { resource, request: { method: 'PATCH', url: 'Patient/p1' } },
      { resource: ward, request: { method: 'PUT', url: 'Organization/late' } },
    ];
    const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
    const { status, text } = await sendAs(person, 'POST', '/fhir', bundle, REPRESENTATION);
    expect([status, text]).toEqual([200, expect.not.stringContaining('Rivera')]);
    expect((await app.get('/Patient/p1')).text).toContain('Organization/late');
  });

  describe('for a caller who is limited to rows', () => {
    const rows = (methods: readonly string[], criteria?: string): object => ({
      engine: 'matcho',
      matcho: { 'request-method': { $enum: methods } },
      ...(criteria !== undefined && { criteria }),
    });
    const WRITES = ['patch', 'delete', 'post'];
    const writes = rows(WRITES, 'Patient?gender=female');

    const isShownTo = async (person: Person, method: string, change = {}): Promise<boolean> => {
      await app.put('/Patient/p1', PATIENT);
      const { status, text } =
        method === 'POST'
          ? await sendAs(person, 'POST', '/Patient', PATIENT, { 'If-None-Exist': '_id=p1' })
          : await sendAs(person, method, '/Patient/p1', method === 'PATCH' ? change : undefined, {
              'Content-Type': MERGE,
            });
      expect([200, 204]).toContain(status);
      return text.includes('Rivera');
    };

    it.each<[string, object[], boolean[]]>([
      ['may not read', [writes], [false, false, false]],
      ['may read the same rows', [writes, rows(['get'], 'Patient?gender=female')], [true, true, true]],
      ['may read all rows', [writes, rows(['get'])], [true, true, true]],
      ['may read other rows', [writes, rows(['get'], 'Patient?gender=male')], [false, false, false]],
      // A deleted resource has no row by which the criteria of the read could decide.
      [
        'may read these rows by other criteria',
        [writes, rows(['get'], 'Patient?family:exact=Rivera')],
        [true, false, true],
      ],
      ['may write all rows', [rows(WRITES), rows(['get'], 'Patient?family:exact=Rivera')], [true, false, true]],
      [
        'may write all rows and read others',
        [rows(WRITES), rows(['get'], 'Patient?gender=male')],
        [false, false, false],
      ],
    ])('who %s', async (name, policies, expected) => {
      const person = await login(app, `limited-${name.replaceAll(' ', '-')}`, { policies });
      const shown = [];
      for (const method of ['PATCH', 'DELETE', 'POST']) shown.push(await isShownTo(person, method, { active: true }));
      expect(shown).toEqual(expected);
    });

    it('who changes the element that decides whether he may read it', async () => {
      const policies = [writes, rows(['get'], 'Patient?active=true')];
      const person = await login(app, 'changing', { policies });
      expect(await isShownTo(person, 'PATCH', { active: true })).toBe(true);
      expect(await isShownTo(person, 'PATCH', { active: false })).toBe(false);
    });
  });
});
