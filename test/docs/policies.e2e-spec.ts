import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { basicHeader, startTestApp, type TestApp } from '../../testing/test-app';
import { login, storeAll } from '../../testing/world';
import { textOf } from './documents';

interface Example {
  readonly resourceType?: string;
  readonly id?: string;
}

const examplesIn = (text: string): readonly string[] =>
  [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, example = '']) => example);

const PAGE = textOf('docs/how-to/write-policies.md');

describe('the examples of docs/how-to/write-policies.md', () => {
  let app: TestApp;
  const examples = examplesIn(PAGE);

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(examples)('are accepted as they are: %s', async (text) => {
    const { resourceType, id } = JSON.parse(text) as Example;
    const answer =
      resourceType === undefined
        ? await app.post(text.includes('"policy"') ? '/auth/test-policy' : '/auth/test-request', text)
        : await app.put(`/${resourceType}/${id ?? ''}`, text);
    expect([answer.status, answer.text]).toEqual([resourceType === undefined ? 200 : 201, expect.any(String)]);
  });

  it('are more than five', () => {
    expect(examples.length).toBeGreaterThan(5);
  });
});

describe('the policies of a hospital', () => {
  let app: TestApp;
  const callers = new Map<string, string>();

  const chartOf = (patient: string, ward: string): [string, object][] => {
    const [subject, encounter] = [{ reference: `Patient/${patient}` }, { reference: `Encounter/e-${patient}` }];
    const document = {
      patient: { resourceType: 'Patient', id: patient },
      encounter: { resourceType: 'Encounter', id: `e-${patient}` },
    };
    return [
      [`Patient/${patient}`, { generalPractitioner: [{ reference: `Practitioner/dr-of-${patient}` }] }],
      [
        `Encounter/e-${patient}`,
        {
          status: 'planned',
          class: { code: 'IMP' },
          subject,
          location: [{ location: { reference: `Location/${ward}` } }],
        },
      ],
      [`Observation/o-${patient}`, { ...observation, subject, encounter }],
      [`Condition/c-${patient}`, { subject, code: { text: 'asthma' } }],
      [`SDCDocument/signed-${patient}`, { status: 'completed', ...document }],
      [`SDCDocument/draft-${patient}`, { status: 'draft', ...document }],
    ];
  };
  const observation = { status: 'final', code: { text: 'temperature' } };
  const observationOf = (patient: string): object => ({
    ...observation,
    resourceType: 'Observation',
    subject: { reference: `Patient/${patient}` },
    encounter: { reference: `Encounter/e-${patient}` },
  });
  const call = (method: string, params: object): object => ({ method: `svc.${method}`, params });
  const comment = (id: string): object =>
    call('sdc.addendum/add-comment', {
      target: { resourceType: 'SDCDocument', id },
      user: { resourceType: 'User', id: 'nurse' },
      text: 'Why?',
    });
  const sign = (patient: string): object =>
    call('sdc/sign', {
      document: {
        id: `draft-${patient}`,
        resourceType: 'SDCDocument',
        patient: { resourceType: 'Patient', id: patient },
      },
    });
  const hook = (ward: string): object => ({
    resourceType: 'SvcTopicDestination',
    kind: 'webhook-at-least-once',
    meta: {
      profile: ['http://clinic.example/StructureDefinition/svctopicdestination-webhook-at-least-once'],
      tag: [{ system: 'http://clinic.example/wards', code: ward }],
    },
    topic: 'http://clinic.example/topics/none',
    parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/hook' }],
  });
  const bundle = (method: string, url: string, resource?: object): object => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ request: { method, url }, ...(resource === undefined ? {} : { resource }) }],
  });

  beforeAll(async () => {
    app = await startTestApp();
    const links = {
      physician: { practitioner: { resourceType: 'Practitioner', id: 'dr-of-p4' } },
      patient: { patient: { resourceType: 'Patient', id: 'p4' } },
    };
    for (const name of ['ward-nurse', 'physician', 'receptionist', 'patient', 'user-keeper', 'break-glass']) {
      callers.set(name, (await login(app, name, { policies: [] })).bearer);
      const user = { resourceType: 'User', id: name };
      await storeAll(app, [
        [`Role/of-${name}`, { name, user, ...(name in links && { links: links[name as 'patient'] }) }],
      ]);
    }
    for (const id of ['lab', 'research']) {
      callers.set(id, basicHeader(id, 'machine'));
      await storeAll(app, [[`Client/${id}`, { secret: 'machine', grant_types: ['basic'] }]]);
    }
    await app.send('PATCH', '/fhir/User/ward-nurse', {
      body: { data: { ward: 'w4' } },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    });
    const chapter = /\n## Policies of a hospital\n([\s\S]*?)\n## /.exec(PAGE)?.[1] ?? '';
    const policies = examplesIn(chapter).map((text) => JSON.parse(text) as Required<Example>);
    await storeAll(app, [
      ...chartOf('p4', 'w4'),
      ...chartOf('p7', 'w7'),
      ['SvcTopicDestination/w4-hook', hook('w4')],
      ['SvcTopicDestination/w7-hook', hook('w7')],
      ...policies.map((policy): [string, object] => [`${policy.resourceType}/${policy.id}`, policy]),
    ]);
  });
  afterAll(() => app.close());

  it.each<[caller: string, request: string, status: number, body?: object]>([
    ['ward-nurse', 'GET /Patient/p4', 200],
    ['ward-nurse', 'GET /Patient/p7', 404],
    ['ward-nurse', 'GET /Condition/c-p4', 403],
    ['ward-nurse', 'GET /SDCDocument/signed-p4/$amendments?_format=json', 200],
    ['ward-nurse', 'GET /SDCDocument/signed-p7/$amendments?_format=json', 404],
    ['ward-nurse', 'POST /Observation', 201, observationOf('p4')],
    ['ward-nurse', 'POST /Observation', 403, observationOf('p7')],
    ['ward-nurse', 'POST /Observation', 403, { ...observationOf('p7'), encounter: { reference: 'Encounter/e-p4' } }],
    ['ward-nurse', 'POST /Observation', 403, { ...observationOf('p4'), encounter: { reference: 'Encounter/e-p7' } }],
    ['ward-nurse', 'PUT /Observation/o-p7', 403, { ...observationOf('p4'), id: 'o-p7' }],
    ['ward-nurse', 'DELETE /Observation/o-p4', 403],
    ['ward-nurse', 'POST /rpc', 200, comment('signed-p4')],
    ['ward-nurse', 'POST /rpc', 422, comment('signed-p7')],
    ['ward-nurse', 'POST /rpc', 403, call('sdc/amend', { id: 'signed-p4' })],
    ['ward-nurse', 'PUT /SDCDocument/draft-p4', 403, { resourceType: 'SDCDocument', id: 'draft-p4' }],
    ['ward-nurse', 'POST /SvcTopicDestination', 201, hook('w4')],
    ['ward-nurse', 'POST /SvcTopicDestination', 403, hook('w7')],
    ['ward-nurse', 'GET /SvcTopicDestination/w7-hook/$status', 404],
    ['ward-nurse', 'POST /SvcTopicDestination/w7-hook/$replay?from=1&to=2', 404],
    ['ward-nurse', 'POST /SvcTopicDestination/w4-hook/$retry', 200],
    ['physician', 'GET /Observation/o-p4', 200],
    ['physician', 'GET /Observation/o-p7', 404],
    ['physician', 'GET /$server-status', 403],
    ['physician', 'POST /Observation', 403, observationOf('p4')],
    ['receptionist', 'GET /Patient/p7', 200],
    ['receptionist', 'GET /Patient?_has:Condition:patient:code=x', 403],
    ['receptionist', 'GET /Patient/p7/Condition', 403],
    ['receptionist', 'GET /Patient/p7/$everything', 403],
    ['receptionist', 'DELETE /Patient/p7', 403],
    ['patient', 'GET /Patient/p4', 200],
    ['patient', 'GET /Patient/p4/$everything', 200],
    ['patient', 'GET /Patient/p7', 404],
    ['patient', 'GET /Condition/c-p7', 404],
    ['patient', 'GET /SDCDocument/signed-p4', 200],
    ['patient', 'GET /SDCDocument/draft-p4', 404],
    ['patient', 'GET /Patient/p4/AuditEvent', 403],
    ['lab', 'POST /Observation', 201, observationOf('p7')],
    ['lab', 'POST /', 200, bundle('POST', 'Observation', observationOf('p7'))],
    ['lab', 'POST /', 403, bundle('GET', 'Observation/o-p7')],
    ['lab', 'POST /', 403, bundle('POST', 'Condition', { resourceType: 'Condition', subject: {} })],
    ['lab', 'GET /Observation/o-p7', 403],
    ['research', 'GET /Observation?subject:Patient.gender=female', 200],
    ['research', 'GET /Observation?_has:DiagnosticReport:result:status=final', 403],
    ['research', 'GET /Condition', 403],
    ['research', 'POST /Observation', 403, observationOf('p7')],
    ['user-keeper', 'GET /User/physician', 200],
    ['user-keeper', 'PUT /User/physician', 200, { userName: 'physician', inactive: false }],
    ['user-keeper', 'PUT /User/physician', 403, { userName: 'physician', password: 'taken over' }],
    ['user-keeper', 'PATCH /User/physician', 403, { password: 'taken over' }],
    ['user-keeper', 'POST /Role', 403, { name: 'physician', user: { resourceType: 'User', id: 'user-keeper' } }],
    ['user-keeper', 'GET /Patient/p4', 403],
    ['break-glass', 'GET /Patient/p7', 403],
    // These change the status of documents that rows above read.
    ['physician', 'POST /rpc', 200, sign('p4')],
    ['physician', 'POST /rpc', 422, sign('p7')],
    ['physician', 'POST /rpc', 200, call('sdc/amend', { id: 'signed-p4' })],
  ])('%s: %s is answered with %i', async (caller, request, status, ...[body]) => {
    const [method = '', path = ''] = request.split(' ');
    const authorization = callers.get(caller) ?? '';
    const answer = await app.send(method, path, { authorization, ...(body && { body }) });
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  });

  it('return whole charts of the listed types only', async () => {
    const typesFor = async (caller: string): Promise<readonly string[]> => {
      const { text } = await app.get('/Patient/p4/$everything?_format=ndjson&_elements=id', {
        authorization: callers.get(caller) ?? '',
      });
      const types = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as Example).resourceType);
      return [...new Set(types)].filter((type) => type !== 'OperationOutcome').sort() as string[];
    };
    expect(await typesFor('research')).toEqual(['Observation', 'Patient']);
    expect(await typesFor('patient')).toEqual(['Condition', 'Observation', 'Patient', 'SDCDocument']);
  });

  it('break the glass for requests that say so', async () => {
    const sent = {
      authorization: callers.get('break-glass') ?? '',
      headers: { 'X-Correlation-Id': 'break-glass-4711' },
    };
    expect((await app.get('/Patient/p7', sent)).status).toBe(200);
    expect((await app.get('/AllergyIntolerance?patient=p7', sent)).status).toBe(200);
    expect((await app.get('/User', sent)).status).toBe(403);
  });

  it('keep the password of a User whom a keeper updates', async () => {
    const form = new URLSearchParams({ grant_type: 'password', username: 'patient', password: 'password of patient' });
    await app.put('/User/patient', { userName: 'patient' }, { authorization: callers.get('user-keeper') ?? '' });
    const answer = await app.post('/auth/token', form.toString(), {
      authorization: basicHeader('client-of-patient', 'secret-of-patient'),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  });
});
