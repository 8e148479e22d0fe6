import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bundle } from '../../support/bundle';
import { basicHeader, startTestApp, type Received, type TestApp } from '../../../testing/test-app';
import { undeliveredEvents } from '../../support/undelivered';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const FHIR_JSON = 'application/fhir+json';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const operation = (...parts: object[]): object => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'operation', part: parts }],
});
const replaceGender = operation(
  { name: 'type', valueCode: 'replace' },
  { name: 'path', valueString: 'Patient.gender' },
  { name: 'value', valueCode: 'male' },
);

describe('PATCH', () => {
  let app: TestApp;
  /** A second server on the same database, with a small body limit. */
  let other: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    other = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_BODY_LIMIT_BYTES: '2048' } });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const patch = (path: string, body: object | string, type = MERGE_PATCH, headers = {}): Promise<Received> =>
    app.send('PATCH', path, { body, headers: { 'Content-Type': type, ...headers } });
  /** The stored text after `meta`. */
  const contentOf = async (path: string): Promise<string> =>
    (await app.get(path)).text.replace(/^.*?"meta":\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\},?/, '').slice(0, -1);

  describe.each(['/fhir', ''])('on the root "%s"', (root) => {
    it.each<[string, object, string]>([
      ['a JSON Patch', [{ op: 'replace', path: '/gender', value: 'male' }], JSON_PATCH],
      ['a merge patch', { gender: 'male' }, MERGE_PATCH],
      ['a FHIRPath patch', replaceGender, FHIR_JSON],
      ['an array as JSON Patch', [{ op: 'replace', path: '/gender', value: 'male' }], 'application/json'],
      ['an object as merge patch', { gender: 'male' }, 'application/json; charset=utf-8'],
      ['Parameters as FHIRPath patch', replaceGender, 'application/json'],
      ['Parameters of the old media type', replaceGender, 'application/json+fhir'],
    ])('applies %s, and creates one version', async (_kind, body, type) => {
      await app.delete('/Patient/forms');
      const stored = await app.put('/Patient/forms', { gender: 'female', active: true });
      const version = Number(stored.json<{ meta: { versionId: string } }>().meta.versionId);
      const patched = await patch(`${root}/Patient/forms`, body, type);
      expect([patched.status, patched.headers.get('etag')]).toEqual([200, `W/"${version + 1}"`]);
      expect(patched.json()).toMatchObject({ resourceType: 'Patient', id: 'forms', gender: 'male', active: true });
      expect((await app.get(`${root}/Patient/forms`)).text).toBe(patched.text);
    });
  });

  it('applies the kind in _method, whatever the media type', async () => {
    await app.put('/Patient/method', { gender: 'female' });
    const changes = [{ op: 'add', path: '/active', value: true }];
    expect((await patch('/Patient/method?_method=json-patch', changes, MERGE_PATCH)).status).toBe(200);
    expect((await patch('/Patient/method?_method=fhirpath-patch', replaceGender, JSON_PATCH)).status).toBe(200);
    expect((await patch('/Patient/method?_method=merge-patch', { active: null }, JSON_PATCH)).status).toBe(200);
    expect((await patch('/Patient/method?_method=upsert', {})).status).toBe(400);
    expect(await contentOf('/Patient/method')).toBe('"gender":"male"');
  });

  it.each([
    [JSON_PATCH, '[{"op":"add","path":"/b/0","value":3.00},{"op":"copy","from":"/a","path":"/c"}]'],
    [MERGE_PATCH, '{"b":[3.00,2.50],"c":1.10}'],
  ])('keeps digits and order with %s', async (type, body) => {
    await app.put('/SDCDocument/digits', '{"status":"draft","a":1.10,"n":12345678901234567890.10,"10":1e2,"b":[2.50]}');
    expect((await patch('/SDCDocument/digits', body, type)).status).toBe(200);
    expect(await contentOf('/SDCDocument/digits')).toBe(
      '"status":"draft","a":1.10,"n":12345678901234567890.10,"10":1e2,"b":[3.00,2.50],"c":1.10',
    );
  });

  it('keeps digits with a FHIRPath patch', async () => {
    const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
    const text = JSON.stringify(observation).replace(/\}$/, ',"valueQuantity":{"value":36.60}}');
    await app.put('/Observation/digits', text);
    const body = JSON.stringify(
      operation(
        { name: 'type', valueCode: 'add' },
        { name: 'path', valueString: 'Observation' },
        { name: 'name', valueString: 'referenceRange' },
        { name: 'value', part: [{ name: 'low', valueQuantity: { value: 'DIGITS' } }] },
      ),
    ).replace('"DIGITS"', '35.10');
    expect((await patch('/Observation/digits', body, FHIR_JSON)).text).toContain(
      '"valueQuantity":{"value":36.60},"referenceRange":[{"low":{"value":35.10}}]}',
    );
  });

  it('updates the search index, and is PATCH in the history', async () => {
    await app.put('/Patient/told', { gender: 'female', birthDate: '1999-09-09' });
    await patch('/Patient/told', { gender: 'other' });
    expect((await app.get('/Patient?_id=told&gender=other')).json<Bundle>().total).toBe(1);
    expect((await app.get('/Patient?_id=told&gender=female')).json<Bundle>().total).toBe(0);
    const history = (await app.get('/Patient/told/_history')).json<
      Bundle<{ request: object; response: { status: string } }>
    >();
    expect(history.entry[0]).toMatchObject({
      request: { method: 'PATCH', url: 'Patient/told' },
      response: { status: '200 OK' },
    });
  });

  it('creates one event, and neither version nor event if nothing changed', async () => {
    const topic = 'http://clinic.example/topics/patched';
    await app.put('/SvcSubscriptionTopic/patched', {
      url: topic,
      status: 'active',
      trigger: [{ resource: 'Patient' }],
    });
    await app.put('/Patient/event', { gender: 'female' });
    await app.put('/SvcTopicDestination/patched', {
      meta: { profile: ['http://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      kind: 'webhook-at-least-once',
      topic,
      parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/hook' }],
    });
    for (const body of [{ gender: 'male' }, { gender: 'male' }, {}, { meta: { versionId: '99' } }]) {
      const patched = await patch('/Patient/event', body);
      expect([patched.status, patched.headers.get('etag')]).toEqual([200, 'W/"2"']);
    }
    const client = await app.connect();
    const events = (await undeliveredEvents(client)).filter(({ id }) => id === 'event');
    await client.end();
    expect(events).toEqual([{ id: 'event', version: 2, interaction: 'update', method: 'PATCH' }]);
    await app.delete('/SvcTopicDestination/patched');
  });

  it('applies If-Match, and a test of the version in the patch', async () => {
    await app.put('/Patient/match', { gender: 'female' });
    const wrong = await patch('/Patient/match', { active: true }, MERGE_PATCH, { 'If-Match': 'W/"7"' });
    const right = await patch('/Patient/match', { active: true }, MERGE_PATCH, { 'If-Match': 'W/"1"' });
    expect([wrong.status, right.status]).toEqual([412, 200]);
    const tested = [{ op: 'test', path: '/meta/versionId', value: '2' }];
    expect((await patch('/Patient/match', tested, JSON_PATCH)).status).toBe(200);
  });

  it('returns 404 for an unknown resource, 410 for a deleted one', async () => {
    await app.put('/Patient/gone', {});
    await app.delete('/Patient/gone');
    const answers = [
      await patch('/Patient/never', {}),
      await patch('/Patient/gone', {}),
      await patch('/Nothing/x', {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 410, 404]);
  });

  it('applies all operations or none', async () => {
    await app.put('/Patient/atomic', { gender: 'female' });
    const failing = [
      { op: 'add', path: '/active', value: true },
      { op: 'test', path: '/gender', value: 'male' },
    ];
    expect((await patch('/Patient/atomic', failing, JSON_PATCH)).status).toBe(422);
    expect(await contentOf('/Patient/atomic')).toBe('"gender":"female"');
    expect((await app.get('/Patient/atomic')).headers.get('etag')).toBe('W/"1"');
  });

  it('loses none of sixteen concurrent patches, on two servers', async () => {
    await app.put('/Patient/race', { name: [{ family: 'first' }] });
    const answers = await Promise.all(
      times(16, (n) => {
        const body = [{ op: 'add', path: '/name/-', value: { family: `caller ${n}` } }];
        return (n % 2 === 0 ? app : other).send('PATCH', '/Patient/race', {
          body,
          headers: { 'Content-Type': JSON_PATCH },
        });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(16, () => 200));
    const { name, meta } = (await app.get('/Patient/race')).json<{
      name: { family: string }[];
      meta: { versionId: string };
    }>();
    expect(name.map(({ family }) => family).sort()).toEqual([...times(16, (n) => `caller ${n}`), 'first'].sort());
    expect(meta.versionId).toBe('17');
  });

  it('counts exactly if each caller tests the value that it read and repeats', async () => {
    await app.put('/SDCDocument/counter', { status: 'draft', count: 0 });
    const increment = async (): Promise<void> => {
      for (let tries = 0; tries < 100; tries++) {
        const { count } = (await app.get('/SDCDocument/counter')).json<{ count: number }>();
        const body = [
          { op: 'test', path: '/count', value: count },
          { op: 'replace', path: '/count', value: count + 1 },
        ];
        if ((await patch('/SDCDocument/counter', body, JSON_PATCH)).status === 200) return;
      }
    };
    await Promise.all(times(8, increment));
    expect((await app.get('/SDCDocument/counter')).json()).toMatchObject({ count: 8, meta: { versionId: '9' } });
  });

  describe('keeps secrets', () => {
    it('that are stored when it changes other members, and returns none that it sets', async () => {
      await app.put('/Client/patched', { secret: 'first-secret', grant_types: ['basic'] });
      await patch('/Client/patched', { description: 'changed' });
      const call = (secret: string): Promise<Received> =>
        app.get('/Session', { authorization: basicHeader('patched', secret) });
      const isKnown = async (secret: string): Promise<boolean> => (await call(secret)).status !== 401;
      expect(await isKnown('first-secret')).toBe(true);
      const patched = await patch(
        '/Client/patched',
        [{ op: 'add', path: '/secret', value: 'second-secret' }],
        JSON_PATCH,
      );
      expect([patched.status, patched.text.includes('second-secret')]).toEqual([200, false]);
      expect([await isKnown('first-secret'), await isKnown('second-secret')]).toEqual([false, true]);
    });
  });

  describe('refuses', () => {
    beforeAll(() => app.put('/Patient/refused', { gender: 'female', name: [{ family: 'A' }] }));

    it.each<[string, object | string, string, number]>([
      ['an object as JSON Patch', { op: 'remove', path: '/gender' }, JSON_PATCH, 400],
      ['an unknown operation', [{ op: 'increment', path: '/gender' }], JSON_PATCH, 400],
      ['an invalid JSON pointer', [{ op: 'remove', path: 'gender' }], JSON_PATCH, 400],
      ['a removal of a missing member', [{ op: 'remove', path: '/birthDate' }], JSON_PATCH, 422],
      ['a test that fails', [{ op: 'test', path: '/gender', value: 'male' }], JSON_PATCH, 422],
      ['a resource that is a list', [], MERGE_PATCH, 422],
      ['a resource that is a string', '"x"', MERGE_PATCH, 422],
      ['invalid Parameters', { resourceType: 'Patient' }, `${FHIR_JSON}?`, 415],
      ['another id', { id: 'other' }, MERGE_PATCH, 422],
      ['no id', { id: null }, MERGE_PATCH, 422],
      ['another type', { resourceType: 'Observation' }, MERGE_PATCH, 422],
      ['no type', [{ op: 'remove', path: '/resourceType' }], JSON_PATCH, 422],
      ['a meta that is not an object', { meta: 'x' }, MERGE_PATCH, 422],
      ['__proto__ in a pointer', [{ op: 'add', path: '/__proto__', value: {} }], JSON_PATCH, 422],
      ['constructor in a pointer', [{ op: 'copy', from: '/name', path: '/constructor' }], JSON_PATCH, 422],
      ['__proto__ in a value', '{"__proto__":{"x":1}}', MERGE_PATCH, 400],
      ['a duplicate key', '{"gender":"male","gender":"other"}', MERGE_PATCH, 400],
      ['broken JSON', '{"gender":', MERGE_PATCH, 400],
      ['nothing', '', MERGE_PATCH, 400],
      [
        'a path with several matches',
        operation(
          { name: 'type', valueCode: 'delete' },
          { name: 'path', valueString: 'Patient.name | Patient.gender' },
        ),
        FHIR_JSON,
        422,
      ],
      [
        'a value that the element cannot have',
        operation(
          { name: 'type', valueCode: 'add' },
          { name: 'path', valueString: 'Patient' },
          { name: 'name', valueString: 'colour' },
          { name: 'value', valueString: 'red' },
        ),
        FHIR_JSON,
        422,
      ],
      [
        'a FHIRPath change of the id',
        operation(
          { name: 'type', valueCode: 'replace' },
          { name: 'path', valueString: 'Patient.id' },
          { name: 'value', valueId: 'x' },
        ),
        FHIR_JSON,
        422,
      ],
      ['XML', '<Patient/>', 'application/fhir+xml', 415],
      ['a form', 'a=b', 'application/x-www-form-urlencoded', 415],
    ])('%s', async (_case, body, type, status) => {
      const refused = await patch('/Patient/refused', body, type);
      expect([refused.status, refused.json<{ resourceType: string }>().resourceType]).toEqual([
        status,
        'OperationOutcome',
      ]);
      expect(await contentOf('/Patient/refused')).toBe('"gender":"female","name":[{"family":"A"}]');
    });

    it('other media types, and lists the supported ones', async () => {
      const refused = await patch('/Patient/refused', 'x', 'text/plain');
      expect([refused.status, refused.headers.get('accept-patch')]).toEqual([
        415,
        [JSON_PATCH, MERGE_PATCH, FHIR_JSON, 'application/json+fhir', 'application/json'].join(', '),
      ]);
    });

    it('a result that breaks a rule of its type', async () => {
      await app.put('/AccessPolicy/patched', { engine: 'allow' });
      expect((await patch('/AccessPolicy/patched', { engine: 'nonsense' })).status).toBe(422);
      expect((await app.get('/AccessPolicy/patched')).headers.get('etag')).toBe('W/"1"');
    });

    it('a result that is deeper or larger than a body may be', async () => {
      await app.put('/SDCDocument/large', { status: 'draft', text: 'x'.repeat(900) });
      const deep = times(70, () => ({ op: 'copy', from: '/x', path: '/x/x' }));
      const deeper = await patch('/SDCDocument/large', [{ op: 'add', path: '/x', value: {} }, ...deep], JSON_PATCH);
      expect([deeper.status, deeper.text.includes('deeper than 64 levels')]).toEqual([422, true]);
      const double = times(2, (n) => ({ op: 'copy', from: '/text', path: `/copy${n}` }));
      const refused = await other.send('PATCH', '/SDCDocument/large', { body: double });
      expect([refused.status, refused.text.includes('larger than 2048 bytes')]).toEqual([422, true]);
    });
  });
});
