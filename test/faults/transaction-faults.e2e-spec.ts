import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { login } from '../../testing/world';
import { type Received, type Sent, startTestApp, type TestApp } from '../../testing/test-app';

interface Issue {
  readonly severity: string;
  readonly code: string;
  readonly diagnostics: string;
  readonly expression?: readonly string[];
}

const patient = (more: object = {}): object => ({ resourceType: 'Patient', ...more });
const post = (resource: object, more: object = {}): object => ({
  resource,
  request: { method: 'POST', url: 'Patient', ...more },
});
const put = (id: string, more: object = {}, request: object = {}): object => ({
  resource: patient({ id, ...more }),
  request: { method: 'PUT', url: `Patient/${id}`, ...request },
});
const request = (method: string, url: string): object => ({ request: { method, url } });

describe('faults of a transaction', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Patient/stored', patient());
    for (const id of ['twin-1', 'twin-2'])
      await app.put(`/fhir/Patient/${id}`, patient({ identifier: [{ value: 'twin' }] }));
  });
  afterAll(() => app.close());

  const transact = (entry: readonly object[], sent: Sent = {}, type = 'transaction'): Promise<Received> =>
    app.post('/fhir', { resourceType: 'Bundle', type, entry }, sent);
  const issuesOf = (answer: Received): readonly Issue[] => answer.json<{ issue: readonly Issue[] }>().issue;
  const placesOf = (answer: Received): readonly string[] =>
    issuesOf(answer).map(({ code, expression = [] }) => `${code} ${expression.join()}`);

  it('D8: name the entry in each expression and text, also for a fault deep in a resource', async () => {
    const answer = await transact([
      post(patient()),
      post(patient({ gender: 'm', name: [{ famly: 'Lee' }, { given: [1] }] })),
    ]);
    expect(answer.status).toBe(422);
    expect(placesOf(answer)).toEqual([
      'code-invalid Bundle.entry[1].resource.gender',
      'structure Bundle.entry[1].resource.name[0].famly',
      'structure Bundle.entry[1].resource.name[1].given[0]',
    ]);
    for (const { diagnostics, severity } of issuesOf(answer)) {
      expect([severity, diagnostics]).toEqual(['fatal', expect.stringMatching(/^Bundle\.entry\[1\]: ./)]);
    }
  });

  it('D8: start with the entry, also for a fault in a Bundle inside the entry', async () => {
    const inner = { resourceType: 'Bundle', type: 'nonsense' };
    const answer = await transact([{ resource: inner, request: { method: 'POST', url: 'Bundle' } }]);
    expect(placesOf(answer)).toEqual(['code-invalid Bundle.entry[0].resource.type']);
  });

  it('D8: are reported for all entries of any kind of fault, and nothing is stored', async () => {
    const answer = await transact([
      { resource: patient() },
      put('d8-good'),
      post(patient({ gender: 'm' })),
      { resource: patient(), request: { method: 'POST', url: 'Patint' } },
      put('d8-odd', { birthDate: 'soon' }),
      post(patient(), { ifNoneExist: 'identifier=twin' }),
      post(patient(), { ifNoneExist: 'famly=Lee' }),
      { resource: { resourceType: 'SDCAddendum' }, request: { method: 'POST', url: 'SDCAddendum' } },
    ]);
    expect(answer.status).toBe(400);
    expect(placesOf(answer)).toEqual([
      'invalid Bundle.entry[0].request',
      'code-invalid Bundle.entry[2].resource.gender',
      'not-found Bundle.entry[3]',
      'value Bundle.entry[4].resource.birthDate',
      'multiple-matches Bundle.entry[5]',
      expect.stringMatching(/ Bundle\.entry\[6\]/),
      'not-supported Bundle.entry[7]',
    ]);
    expect((await app.get('/fhir/Patient/d8-good')).status).toBe(404);
  });

  it('D8: are reported for all entries that conflict with stored resources', async () => {
    const answer = await transact([
      put('stored', { active: true }, { ifMatch: 'W/"7"' }),
      put('d8-unwritten'),
      post(patient({ id: 'twin-2' })),
      { resource: { resourceType: 'Parameters' }, request: { method: 'PATCH', url: 'Patient/d8-none' } },
      put('twin-1', { active: true }, { ifNoneMatch: '*' }),
    ]);
    expect(answer.status).toBe(412);
    expect(placesOf(answer)).toEqual([
      'conflict Bundle.entry[0]',
      'duplicate Bundle.entry[2]',
      'not-found Bundle.entry[3]',
      'conflict Bundle.entry[4]',
    ]);
    expect((await app.get('/fhir/Patient/d8-unwritten')).status).toBe(404);
  });

  it('D8: are reported for all reads', async () => {
    const answer = await transact([
      put('d8-beside'),
      request('GET', 'Patient/d8-none'),
      request('GET', 'Patient/stored'),
      request('GET', 'Patient?famly=x'),
    ]);
    expect(placesOf(answer)).toEqual(['not-found Bundle.entry[1].request', 'invalid Bundle.entry[3].request']);
    expect((await app.get('/fhir/Patient/d8-beside')).status).toBe(404);
  });

  it('D8: are reported for all denied entries', async () => {
    const { bearer } = await login(app, 'd8-nurse', { policies: [] });
    const link = ['FhirBundle', 'FhirCreate'].map((id) => ({ resourceType: 'Operation', id }));
    await app.put('/fhir/AccessPolicy/d8', { engine: 'allow', link });
    const entries = [
      request('DELETE', 'Patient/stored'),
      post(patient()),
      put('stored'),
      post(patient({ gender: 'm' })),
    ];
    const answer = await transact(entries, { authorization: bearer });
    expect(answer.status).toBe(403);
    expect(placesOf(answer)).toEqual([
      'forbidden Bundle.entry[0]',
      'forbidden Bundle.entry[2]',
      'code-invalid Bundle.entry[3].resource.gender',
    ]);
  });

  it('D8: are not reported for a reference to an entry that has a fault', async () => {
    const reference = { reference: 'Patient?identifier=d8-new' };
    const answer = await transact([
      {
        resource: patient({ gender: 'm', identifier: [{ value: 'd8-new' }] }),
        request: { method: 'POST', url: 'Patint' },
      },
      {
        resource: { resourceType: 'Basic', code: { text: 'x' }, subject: reference },
        request: { method: 'POST', url: 'Basic' },
      },
    ]);
    expect(placesOf(answer)).toEqual(['not-found Bundle.entry[0]']);
  });

  it('D8: are limited to 100, and state how many are omitted', async () => {
    const answer = await transact(Array.from({ length: 130 }, () => post(patient({ gender: 'm' }))));
    const issues = issuesOf(answer);
    expect([answer.status, issues.length]).toEqual([422, 101]);
    expect(issues.at(-1)).toEqual({
      severity: 'information',
      code: 'informational',
      diagnostics:
        '30 more faults are left out, all those of 30 entries among them. Mend these and send the Bundle again.',
    });
  });

  it('D8: of malformed entries refuse a whole batch, and are reported together', async () => {
    const answer = await transact([{ resource: patient() }, put('d8-batch'), { request: {} }], {}, 'batch');
    expect([answer.status, placesOf(answer)]).toEqual([
      400,
      ['invalid Bundle.entry[0].request', 'invalid Bundle.entry[2].request.method'],
    ]);
    expect((await app.get('/fhir/Patient/d8-batch')).status).toBe(404);
  });
});
