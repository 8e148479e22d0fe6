import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { longestTurn } from '../../support/longest-turn';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

interface Outcome {
  readonly id: string;
  readonly issue: readonly {
    readonly severity: string;
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** `severity code expression` of each issue. */
const issuesOf = (answer: Received): string[] =>
  answer.json<Outcome>().issue.map(({ severity, code, expression = [] }) => [severity, code, ...expression].join(' '));

const observation = (members: object = {}): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
  ...members,
});

describe('a write', () => {
  it('is refused with all faults at once, each with its path and remedy', async () => {
    const refused = await app.post('/fhir/Patient', { gender: 'm', nmae: [], birthDate: '2023-02-30', name: [] });
    expect(refused.status).toBe(422);
    expect(issuesOf(refused)).toEqual([
      'fatal code-invalid Patient.gender',
      'fatal structure Patient.nmae',
      'fatal value Patient.birthDate',
      'fatal structure Patient.name',
    ]);
    expect(refused.json<Outcome>()).toMatchObject({ id: 'invalid' });
    expect(refused.text).toContain('male, female, other, unknown');
  });

  it('stores nothing if it is invalid', async () => {
    await app.put('/fhir/Patient/refused', { gender: 'm' });
    expect((await app.get('/fhir/Patient/refused')).status).toBe(404);
  });

  it('accepts a resource as the server returned it', async () => {
    const stored = await app.put('/fhir/Observation/back', observation());
    expect((await app.put('/fhir/Observation/back', stored.text)).headers.get('etag')).toBe('W/"1"');
  });

  it('of a type of a module is validated by its shape', async () => {
    const refused = await app.put('/fhir/Client/shaped', { grant_types: ['password'], grantTypes: [] });
    expect([refused.status, ...issuesOf(refused)]).toEqual([422, 'fatal structure Client.grantTypes']);
    expect((await app.put('/fhir/SDCDocument/open', { anything: { goes: [null] } })).status).toBe(201);
  });

  it.each([
    ['Client', { grant_types: ['password'], auth: { password: {} } }],
    ['User', { userName: 'empty', data: {}, name: {} }],
    ['Role', { name: 'nurse', user: { resourceType: 'User', id: 'empty' }, links: {} }],
    ['AccessPolicy', { engine: 'matcho', matcho: { resource: {} } }],
  ])('C8: of %s may contain empty objects: %j', async (type, body) => {
    const path = `/fhir/${type}/empty-objects`;
    const stored = await app.put(path, body);
    expect([stored.status, stored.text]).toEqual([201, expect.stringContaining('{}')]);
    expect(issuesOf(await app.post(`${path}/$validate`, body))).toEqual(['information informational']);
  });

  it.each([
    ['SvcTopicDestination', { kind: 'webhook-at-least-once', topc: 'http://x' }, 'SvcTopicDestination.topc', '"topic"'],
    ['SvcSubscriptionTopic', { url: 'http://x', status: 'x', triger: [] }, 'SvcSubscriptionTopic.triger', '"trigger"'],
    ['Client', { grant_types: ['x'], secrt: 'y' }, 'Client.secrt', '"secret"'],
    ['User', { pasword: 'x' }, 'User.pasword', '"password"'],
    ['User', { username: 'x' }, 'User.username', '"userName"'],
  ])('of %s names the misspelt member in %j', async (type, body, expression, meant) => {
    const refused = await app.post(`/fhir/${type}`, body);
    const issues = refused.json<Outcome>().issue.filter((issue) => issue.expression?.includes(expression));
    expect([refused.status, issues.map(({ diagnostics }) => diagnostics.includes(`Did you mean ${meant}?`))]).toEqual([
      422,
      [true],
    ]);
  });

  it('may use the types of this server as codes of resource types', async () => {
    const list = await app.post('/fhir/MessageDefinition', {
      status: 'draft',
      date: '2020-01-01',
      eventUri: 'http://x',
      focus: [{ code: 'SDCDocument', min: 1 }],
    });
    expect(list.status).toBe(201);
  });
});

describe('$validate', () => {
  it.each(['/fhir/Observation/$validate', '/Observation/%24validate'])(
    'returns 200 and "All OK" on %s',
    async (path) => {
      const answer = await app.post(path, observation());
      expect([answer.status, ...issuesOf(answer)]).toEqual([200, 'information informational']);
      expect(answer.json<Outcome>().issue[0]?.diagnostics).toBe('All OK');
    },
  );

  it('returns 200 with the faults as errors, not as fatal', async () => {
    const answer = await app.post('/fhir/Observation/$validate', observation({ status: 'done' }));
    expect([answer.status, ...issuesOf(answer)]).toEqual([200, 'error code-invalid Observation.status']);
  });

  it('accepts Parameters, and stores nothing', async () => {
    const answer = await app.post('/fhir/Patient/$validate', {
      resourceType: 'Parameters',
      parameter: [
        { name: 'mode', valueCode: 'create' },
        { name: 'resource', resource: { resourceType: 'Patient', id: 'dry', gender: 'x' } },
      ],
    });
    expect(issuesOf(answer)).toEqual(['error code-invalid Patient.gender']);
    expect((await app.get('/fhir/Patient/dry')).status).toBe(404);
  });

  it.each(['/fhir/Parameters/$validate', '/fhir/$validate'])(
    'C3: reads mode, profile and resource from Parameters on %s',
    async (path) => {
      const profile = 'http://x.example/StructureDefinition/absent';
      const content = { resourceType: 'Parameters', parameter: [{ name: 'a', part: [{ name: 'b' }] }] };
      const wrapped = (...more: object[]): object => ({
        resourceType: 'Parameters',
        parameter: [...more, { name: 'resource', resource: content }],
      });
      // The resource in the parameter violates invariant inv-1 of Parameters; the request itself does not.
      const fault = 'error invariant Parameters.parameter[0].part[0]';
      expect(issuesOf(await app.post(path, wrapped()))).toEqual([fault]);
      expect(issuesOf(await app.post(path, wrapped({ name: 'profile', valueUri: profile })))).toEqual([
        fault,
        'error not-found Parameters.meta.profile',
      ]);
      expect((await app.post(path, wrapped({ name: 'mode', valueCode: 'profile' }))).status).toBe(400);
      expect((await app.post(path, wrapped({ name: 'mode', valueCode: 'nonsense' }))).status).toBe(400);
      expect(issuesOf(await app.post(path, content))).toEqual([fault]);
    },
  );

  it('validates the stored resource, and a replacement of it', async () => {
    await app.put('/fhir/Patient/stored', { active: true });
    expect(issuesOf(await app.get('/fhir/Patient/stored/$validate'))).toEqual(['information informational']);
    expect(issuesOf(await app.post('/fhir/Patient/stored/$validate', { active: 5 }))).toEqual([
      'error structure Patient.active',
    ]);
    expect((await app.get('/fhir/Patient/absent/$validate')).status).toBe(404);
  });

  it('returns the errors of the resource rule', async () => {
    const answer = await app.post('/fhir/Client/$validate', { grant_types: ['telepathy'] });
    expect(issuesOf(answer)).toEqual(['error business-rule Client.grant_types']);
  });

  it('returns the errors of the resource rule next to a warning', async () => {
    const meta = { profile: ['http://x.example/StructureDefinition/unknown'] };
    const answer = await app.post('/fhir/Client/$validate', { meta, grant_types: ['telepathy'] });
    expect(issuesOf(answer)).toEqual([
      'warning not-found Client.meta.profile',
      'error business-rule Client.grant_types',
    ]);
  });

  it('accepts the profile of a destination, which its rule checks, but not in other resources', async () => {
    const meta = { profile: ['http://x.example/StructureDefinition/svctopicdestination-webhook-at-least-once|1'] };
    const parameter = (...headers: string[]): object[] => [
      { name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' },
      ...headers.map((valueString) => ({ name: 'header', valueString })),
    ];
    const hook = {
      resourceType: 'SvcTopicDestination',
      meta,
      kind: 'webhook-at-least-once',
      topic: 'http://x.example',
    };
    const path = '/fhir/SvcTopicDestination/$validate';
    expect(issuesOf(await app.post(path, { ...hook, parameter: parameter() }))).toEqual(['information informational']);
    expect(issuesOf(await app.post(path, { ...hook, parameter: parameter('Authorization: ***') }))).toEqual([
      'error business-rule SvcTopicDestination.parameter',
    ]);
    const bundle = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ resource: { ...hook, parameter: parameter() } }],
    };
    expect(issuesOf(await app.post('/fhir/$validate', bundle))).toContain(
      'warning not-found Bundle.entry[0].resource.meta.profile',
    );
  });

  it.each(['/fhir/$validate', '/$validate'])('accepts a resource of any type on %s', async (path) => {
    expect(issuesOf(await app.post(path, observation()))).toEqual(['information informational']);
    expect(issuesOf(await app.post(path, { resourceType: 'Patient', gender: 'm' }))).toEqual([
      'error code-invalid Patient.gender',
    ]);
    const wrapped = {
      resourceType: 'Parameters',
      parameter: [{ name: 'resource', resource: observation({ status: 'done' }) }],
    };
    expect(issuesOf(await app.post(path, wrapped))).toEqual(['error code-invalid Observation.status']);
    const content = { resourceType: 'Parameters', parameter: [{ name: 'other', valueCode: 'a', valueString: 'b' }] };
    expect(issuesOf(await app.post(path, content))).toEqual(['error structure Parameters.parameter[0].value']);
  });

  it('requires credentials, and is in the CapabilityStatement', async () => {
    expect((await app.post('/fhir/$validate', observation(), { authorization: '' })).status).toBe(401);
    const { rest } = (await app.get('/fhir/metadata')).json<{ rest: { operation: { name: string }[] }[] }>();
    expect(rest[0]?.operation.map(({ name }) => name)).toContain('validate');
  });

  it('reports a duplicate id with mode=create', async () => {
    await app.put('/fhir/Patient/taken', {});
    const body = { resourceType: 'Patient', id: 'taken' };
    expect(issuesOf(await app.post('/fhir/Patient/$validate?mode=create', body))).toEqual([
      'error duplicate Patient.id',
    ]);
    expect(issuesOf(await app.post('/fhir/Patient/$validate?mode=update', body))).toEqual([
      'information informational',
    ]);
  });

  it('returns an error if the requested profile is unknown', async () => {
    const path = '/fhir/Observation/$validate?profile=';
    expect(issuesOf(await app.post(`${path}http://nowhere.example/p`, observation()))).toEqual([
      'error not-found Observation.meta.profile',
    ]);
    expect(
      issuesOf(await app.post(`${path}http://hl7.org/fhir/StructureDefinition/Observation`, observation())),
    ).toEqual(['information informational']);
    expect(issuesOf(await app.post(`${path}http://hl7.org/fhir/StructureDefinition/Patient`, observation()))).toEqual([
      'error structure Observation.meta.profile',
    ]);
  });

  it.each([
    ['/fhir/$validate', '', 400],
    ['/fhir/$validate', '{}', 400],
    ['/fhir/$validate', '[]', 400],
    ['/fhir/$validate', { resourceType: 'Spaceship' }, 404],
    ['/fhir/$validate?mode=delete', { resourceType: 'Patient' }, 400],
    ['/fhir/$validate', { resourceType: 'Parameters', parameter: [{ name: 'mode', valueCode: 'create' }] }, 400],
    ['/fhir/SDCAddendum/$validate?mode=create', {}, 405],
    ['/fhir/Patient/$validate?mode=profile', {}, 400],
    ['/fhir/Patient/$validate', '', 400],
    ['/fhir/Patient/$validate', { resourceType: 'Observation' }, 400],
    ['/fhir/Patient/$validate?mode=guess', {}, 400],
    ['/fhir/Patient/$validate?mode=update', {}, 400],
    ['/fhir/Patient/$validate?mode=delete', '', 200],
    ['/fhir/Patient/$validate', '{"resourceType":"Parameters","parameter":[null, 5, {"name":"resource"}]}', 400],
    ['/fhir/Patient/$validate', '{"resourceType":"Parameters","parameter":5}', 400],
    ['/fhir/Spaceship/$validate', {}, 404],
  ])('of %s with %j returns %i', async (path, body, status) => {
    expect((await app.post(path, body)).status).toBe(status);
  });
});

describe('a profile', () => {
  const url = 'http://clinic.example/StructureDefinition/weight';
  const weight = (members: object = {}): object =>
    observation({ meta: { profile: [url] }, valueQuantity: { value: 71 }, ...members });

  const definition = (...element: object[]): object => ({
    resourceType: 'StructureDefinition',
    url,
    name: 'Weight',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Observation',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
    derivation: 'constraint',
    differential: { element: [{ id: 'Observation', path: 'Observation' }, ...element] },
  });

  const put = async (...element: object[]): Promise<void> => {
    const answer = await app.put('/fhir/StructureDefinition/weight', definition(...element));
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
  };

  it('that is not stored causes a warning of $validate, but no refusal', async () => {
    const named = observation({ meta: { profile: ['http://nowhere.example/p'] } });
    expect(issuesOf(await app.post('/fhir/Observation/$validate', named))).toEqual([
      'warning not-found Observation.meta.profile',
    ]);
    expect((await app.post('/fhir/Observation', named)).status).toBe(201);
  });

  it('applies to the next write after it was stored or changed', async () => {
    expect((await app.post('/fhir/Observation', weight())).status).toBe(201);
    await put({ id: 'Observation.subject', path: 'Observation.subject', min: 1 });
    const refused = await app.post('/fhir/Observation', weight());
    expect([refused.status, ...issuesOf(refused)]).toEqual([422, 'fatal required Observation.subject']);
    await put({ id: 'Observation.issued', path: 'Observation.issued', max: '0' });
    expect((await app.post('/fhir/Observation', weight())).status).toBe(201);
    const late = await app.post('/fhir/Observation', weight({ issued: '2020-01-01T00:00:00Z' }));
    expect(issuesOf(late)).toEqual(['fatal structure Observation.issued']);
    expect((await app.post('/fhir/Observation', observation({ issued: '2020-01-01T00:00:00Z' }))).status).toBe(201);
  });

  it('can be requested by URL', async () => {
    await put({ id: 'Observation.subject', path: 'Observation.subject', min: 1 });
    const answer = await app.post(`/fhir/Observation/$validate?profile=${encodeURIComponent(url)}`, observation());
    expect(issuesOf(answer)).toEqual(['error required Observation.subject']);
  });

  it('binds to a stored ValueSet, and follows its changes', async () => {
    await app.put('/fhir/ValueSet/units', {
      url: 'http://clinic.example/ValueSet/units',
      status: 'active',
      compose: { include: [{ system: 'http://unitsofmeasure.org', concept: [{ code: 'kg' }] }] },
    });
    await put({
      id: 'Observation.value[x]',
      path: 'Observation.value[x]',
      type: [{ code: 'Quantity' }],
      binding: { strength: 'required', valueSet: 'http://clinic.example/ValueSet/units' },
    });
    const grams = { valueQuantity: { value: 71, system: 'http://unitsofmeasure.org', code: 'g' } };
    expect(issuesOf(await app.post('/fhir/Observation', weight(grams)))).toEqual([
      'fatal code-invalid Observation.value',
    ]);
    const words = await app.post('/fhir/Observation', weight({ valueQuantity: undefined, valueString: 'heavy' }));
    expect(issuesOf(words)).toEqual(['fatal structure Observation.value']);
    await app.put('/fhir/ValueSet/units', {
      url: 'http://clinic.example/ValueSet/units',
      status: 'active',
      compose: { include: [{ system: 'http://unitsofmeasure.org', concept: [{ code: 'kg' }, { code: 'g' }] }] },
    });
    expect((await app.post('/fhir/Observation', weight(grams))).status).toBe(201);
  });

  it('applies to contained resources and to those in a stored Bundle', async () => {
    await put({ id: 'Observation.subject', path: 'Observation.subject', min: 1 });
    const inBundle = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ resource: weight() }, { resource: weight() }],
    };
    expect(issuesOf(await app.post('/fhir/Bundle', inBundle))).toEqual([
      'fatal required Bundle.entry[0].resource.subject',
      'fatal required Bundle.entry[1].resource.subject',
    ]);
    const containing = {
      resourceType: 'List',
      status: 'current',
      mode: 'working',
      contained: [{ ...weight(), id: 'w' }],
      entry: [{ item: { reference: '#w' } }],
    };
    expect(issuesOf(await app.post('/fhir/List', containing))).toEqual(['fatal required List.contained[0].subject']);
    const valid = { ...inBundle, entry: [{ resource: weight({ subject: { reference: 'Patient/1' } }) }] };
    expect((await app.post('/fhir/Bundle', valid)).status).toBe(201);
  });

  const constrained = (key: string, expression: string): Promise<void> =>
    put({
      id: 'Observation.code',
      path: 'Observation.code',
      constraint: [{ key, severity: 'error', human: key, expression }],
    });

  it('S3: matches a pattern in linear time, whatever the pattern and the text', async () => {
    await constrained('pattern-1', "text.matches('^(a+)+$')");
    const code = { text: `${'a'.repeat(60)}!` };
    expect(issuesOf(await app.post('/fhir/Observation', weight({ code })))).toEqual([
      'fatal invariant Observation.code',
    ]);
    expect((await app.post('/fhir/Observation', weight({ code: { text: 'aaa' } }))).status).toBe(201);
  });

  it('S3: warns about a pattern that backtracks', async () => {
    await constrained('pattern-2', "text.matches('(?=a)')");
    const stored = await app.post('/fhir/Observation/$validate', weight({ code: { text: 'b' } }));
    expect(issuesOf(stored)).toEqual(['warning informational Observation.code']);
    expect(stored.text).toContain('no regular expression of RE2');
  });

  it('S3: stops a slow invariant, and skips it for a while', async () => {
    await constrained(
      'slow-1',
      'coding.all(%resource.code.coding.where(display.exists() or code.exists()).count() = 0)',
    );
    const coding = Array.from({ length: 6_000 }, () => ({ system: 'http://s' }));
    const slow = weight({ code: { coding } });
    const turns: number[] = [];
    const answers: string[] = [];
    for (let time = 0; time < 6; time++)
      turns.push(await longestTurn(async () => answers.push(...issuesOf(await app.post('/fhir/Observation', slow)))));
    expect(new Set(answers)).toEqual(new Set(['fatal too-costly Observation.meta.profile']));
    // On a busy machine, an interrupted step is tried again with ten times the time. The shortest turn had no second
    // try, so that turn is tested.
    expect(Math.min(...turns)).toBeLessThan(250);
    // Now the profile is not evaluated for a small resource either.
    expect(issuesOf(await app.post('/fhir/Observation', weight({})))).toEqual([
      'fatal too-costly Observation.meta.profile',
    ]);
  });
});

describe('SVC_REFERENCE_CHECK=on', () => {
  let strict: TestApp;

  beforeAll(async () => {
    strict = await startTestApp({ environment: { SVC_REFERENCE_CHECK: 'on' } });
    await strict.put('/fhir/Patient/here', {});
    await strict.put('/fhir/Patient/gone', {});
    await strict.delete('/fhir/Patient/gone');
  });
  afterAll(() => strict.close());

  it('reports each reference whose target is not stored, or was deleted', async () => {
    const refused = await strict.post(
      '/fhir/Observation',
      observation({
        subject: { reference: 'Patient/gone' },
        encounter: { reference: 'Encounter/never' },
        performer: [{ reference: 'Patient/here' }, { reference: 'http://svc.example/fhir/Practitioner/never' }],
      }),
    );
    expect([refused.status, ...issuesOf(refused)]).toEqual([
      422,
      'fatal not-found Observation.encounter',
      'fatal not-found Observation.performer[1]',
      'fatal not-found Observation.subject',
    ]);
    expect(refused.text).toContain('Encounter/never is not stored here');
  });

  it('allows the deletion of a Client that its AuditEvent names', async () => {
    await strict.put('/Client/short-lived', { grant_types: ['basic'] });
    expect((await strict.delete('/Client/short-lived')).status).toBe(200);
    const { total } = (await strict.get('/AuditEvent?entity=Client/short-lived')).json<{ total: number }>();
    expect(total).toBe(2);
  });

  it('is applied by $validate with mode=create', async () => {
    const lost = observation({ subject: { reference: 'Patient/gone' } });
    expect(issuesOf(await strict.post('/fhir/Observation/$validate?mode=create', lost))).toEqual([
      'error not-found Observation.subject',
    ]);
    expect(issuesOf(await strict.post('/fhir/Observation/$validate', lost))).toEqual(['information informational']);
  });

  it('accepts targets in the same transaction, and refuses others', async () => {
    const transaction = (subject: string): Promise<Received> =>
      strict.post('/fhir', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          {
            resource: observation({ subject: { reference: subject } }),
            request: { method: 'POST', url: 'Observation' },
          },
          {
            fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
            resource: { resourceType: 'Patient' },
            request: { method: 'POST', url: 'Patient' },
          },
        ],
      });
    expect((await transaction('urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a')).status).toBe(200);
    expect((await transaction('Patient/never')).status).toBe(422);
  });

  it.each([
    ['a stored resource', { subject: { reference: 'Patient/here' } }],
    ['a version of a stored resource', { subject: { reference: 'Patient/here/_history/1' } }],
    ['another server', { subject: { reference: 'https://other.example/fhir/Patient/never' } }],
    ['a contained resource', { contained: [{ resourceType: 'Patient', id: 'p' }], subject: { reference: '#p' } }],
    ['an identifier', { subject: { identifier: { value: '1' } } }],
  ])('accepts a reference to %s', async (_title, members) => {
    expect((await strict.put('/fhir/Observation/self', observation(members))).status).toBeLessThan(300);
  });

  it('accepts a reference of a new resource to itself', async () => {
    const own = observation({ derivedFrom: [{ reference: 'Observation/own' }] });
    expect((await strict.put('/fhir/Observation/own', own)).status).toBe(201);
  });

  it('is off by default', async () => {
    const stored = await app.post('/fhir/Observation', observation({ subject: { reference: 'Patient/never' } }));
    expect(stored.status).toBe(201);
  });
});
