import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

const CRITERIA = [
  'Patient?_has:Encounter:patient:location=Location/own-ward',
  'Encounter?location=Location/own-ward',
  'Observation?subject=Patient/own-p',
  'Practitioner?identifier=http://npi.example|own',
];

const observation = (subject: string, more: object = {}): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'pulse' },
  subject: { reference: `Patient/${subject}` },
  ...more,
});
const encounter = (ward: string, patient: string): object => ({
  resourceType: 'Encounter',
  status: 'planned',
  class: { code: 'AMB' },
  subject: { reference: patient },
  location: [{ location: { reference: `Location/${ward}` } }],
});
const named = (value: string): object => ({ identifier: [{ system: 'http://lab.example', value }] });

interface BundleAnswer {
  readonly entry: readonly { readonly response: { readonly status: string; readonly location?: string } }[];
}

describe('writes of callers who are limited to rows', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria: CRITERIA }] });
    await app.put('/Patient/own-p', { resourceType: 'Patient' });
    await app.put('/Encounter/own-e', encounter('own-ward', 'Patient/own-p'));
    await app.put('/Patient/canary-p', { resourceType: 'Patient' });
    await app.put('/Observation/canary-o', observation('canary-p', named('canary')));
    await app.put('/Practitioner/canary-d', {
      resourceType: 'Practitioner',
      identifier: [{ system: 'http://npi.example', value: 'canary' }],
    });
  });
  afterAll(() => app.close());

  const asNurse = sendingAs(() => [app, nurse]);

  const transaction = (type: 'batch' | 'transaction', ...entry: object[]): Promise<Received> =>
    asNurse('POST', '/fhir', { resourceType: 'Bundle', type, entry });

  const versionsOf = async (path: string): Promise<number | undefined> =>
    (await app.get(`/${path}/_history`)).json<{ total?: number }>().total;

  const countOf = async (query: string): Promise<number | undefined> =>
    (await app.get(`/${query}`)).json<{ total?: number }>().total;

  /** A hidden id must be answered like an id that never existed. */
  async function expectSame(hidden: Promise<Received>, missing: Promise<Received>): Promise<void> {
    const [one, other] = [await hidden, await missing];
    expect([one.status, one.text]).toEqual([other.status, other.text.replaceAll('no-such', 'canary-o')]);
  }

  it('store only granted resources', async () => {
    expect((await asNurse('POST', '/Observation', observation('own-p', named('first')))).status).toBe(201);
    expect((await asNurse('PUT', '/Observation/own-1', observation('own-p'))).status).toBe(201);
    const refused = await asNurse('POST', '/Observation', observation('canary-p', named('refused')));
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('do not cover this resource')]);
    expect((await asNurse('PUT', '/Observation/refused-1', observation('canary-p'))).status).toBe(403);
    expect((await asNurse('POST', '/Device', { resourceType: 'Device' })).status).toBe(403);
    expect(await countOf('Observation?identifier=refused')).toBe(0);
    expect((await app.get('/Observation/refused-1')).status).toBe(404);
  });

  it('require that the resource is granted before and after the write', async () => {
    await asNurse('PUT', '/Observation/own-2', observation('own-p'));
    expect((await asNurse('PUT', '/Observation/own-2', observation('own-p', named('x')))).status).toBe(200);
    expect((await asNurse('PUT', '/Observation/own-2', observation('canary-p'))).status).toBe(403);
    const move = { subject: { reference: 'Patient/canary-p' } };
    expect((await asNurse('PATCH', '/Observation/own-2', move)).status).toBe(403);
    expect(await versionsOf('Observation/own-2')).toBe(2);
    expect((await asNurse('PUT', '/Observation/canary-o', observation('own-p'))).status).toBe(403);
    expect(await versionsOf('Observation/canary-o')).toBe(1);
  });

  it.each([undefined, '*', 'W/"1"', 'W/"7"'])(
    'answer for a hidden resource as for one that is not stored (If-Match %s)',
    async (tag) => {
      const headers: Record<string, string> = tag === undefined ? {} : { 'If-Match': tag };
      const both = (method: string, body?: object): Promise<void> =>
        expectSame(
          asNurse(method, '/Observation/canary-o', body, headers),
          asNurse(method, '/Observation/no-such', body, headers),
        );
      await both('DELETE');
      await both('PATCH', { status: 'amended' });
      await both('PUT', observation('canary-p'));
      if (tag !== undefined) await both('PUT', observation('own-p'));
      expect(await versionsOf('Observation/canary-o')).toBe(1);
      expect((await app.get('/Observation/no-such')).status).toBe(404);
    },
  );

  it('cannot take the id, and so the history, of a hidden or deleted resource', async () => {
    await app.put('/Observation/canary-gone', observation('canary-p', named('secret')));
    await app.delete('/Observation/canary-gone');
    for (const id of ['canary-gone', 'canary-o']) {
      const body = observation('own-p', { id });
      expect((await asNurse('PUT', `/Observation/${id}`, body)).status).toBe(403);
      expect((await asNurse('POST', '/Observation', body)).status).toBe(403);
      const entry = (method: string, url: string): object => ({ request: { method, url }, resource: body });
      expect((await transaction('transaction', entry('PUT', `Observation/${id}`))).status).toBe(403);
      expect((await transaction('transaction', entry('POST', 'Observation'))).status).toBe(403);
      expect((await asNurse('GET', `/Observation/${id}/_history`)).status).toBe(404);
    }
    expect(await versionsOf('Observation/canary-gone')).toBe(2);
  });

  it('match only granted resources by their conditions', async () => {
    const own = observation('own-p', named('canary'));
    const create = (): Promise<Received> =>
      asNurse('POST', '/Observation', own, { 'If-None-Exist': 'identifier=http://lab.example|canary' });
    // Hidden resources with this identifier do not exist for this caller, and stay hidden.
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(200);
    const byCode = 'Observation?identifier=http://lab.example|canary';
    expect(
      (await asNurse('PUT', `/${byCode}`, observation('own-p', { ...named('canary'), status: 'amended' }))).status,
    ).toBe(200);
    expect((await asNurse('PATCH', `/${byCode}`, { status: 'corrected' })).status).toBe(200);
    const moved = await asNurse('PATCH', `/${byCode}`, { subject: { reference: 'Patient/canary-p' } });
    expect(moved.status).toBe(403);
    expect(await countOf(byCode)).toBe(2);
    const removed = await asNurse('DELETE', `/${byCode}`, undefined, { 'x-conditional-delete': 'remove-all' });
    expect([removed.status, removed.text]).toEqual([200, expect.stringContaining('corrected')]);
    expect((await asNurse('DELETE', `/${byCode}`)).status).toBe(204);
    expect((await asNurse('PATCH', `/${byCode}`, { status: 'final' })).status).toBe(404);
    expect(await versionsOf('Observation/canary-o')).toBe(1);
  });

  it('in a transaction all fail if one is not granted', async () => {
    const refused = await transaction(
      'transaction',
      { request: { method: 'PUT', url: 'Observation/own-t1' }, resource: observation('own-p') },
      { request: { method: 'PUT', url: 'Observation/own-t2' }, resource: observation('canary-p') },
    );
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Bundle.entry[1]')]);
    expect((await app.get('/Observation/own-t1')).status).toBe(404);
    const update = await transaction('transaction', {
      request: { method: 'PUT', url: 'Observation/canary-o' },
      resource: observation('own-p'),
    });
    expect(update.status).toBe(403);
    const gone = await transaction(
      'transaction',
      { request: { method: 'DELETE', url: 'Observation/canary-o' } },
      { request: { method: 'DELETE', url: 'Observation?identifier=http://lab.example|canary' } },
    );
    expect(gone.json<BundleAnswer>().entry.map(({ response }) => response.status)).toEqual([
      '204 No Content',
      '204 No Content',
    ]);
    expect(await versionsOf('Observation/canary-o')).toBe(1);
  });

  it('in a batch succeed or fail separately', async () => {
    const answer = await transaction(
      'batch',
      { request: { method: 'PUT', url: 'Observation/own-b1' }, resource: observation('own-p') },
      { request: { method: 'PUT', url: 'Observation/own-b2' }, resource: observation('canary-p') },
      { request: { method: 'PUT', url: 'Observation/canary-o' }, resource: observation('own-p') },
      { request: { method: 'GET', url: 'Observation/canary-o' } },
      { request: { method: 'PATCH', url: 'Observation/canary-o' }, resource: { resourceType: 'Parameters' } },
    );
    const statuses = answer.json<BundleAnswer>().entry.map(({ response }) => response.status.slice(0, 3));
    expect(statuses).toEqual(['201', '403', '403', '404', '404']);
  });

  it('in a transaction are checked after all entries are written', async () => {
    const [patient, visit] = [
      'urn:uuid:7d1b2f0e-54a4-4c3e-9a55-2d6f0d6f0001',
      'urn:uuid:7d1b2f0e-54a4-4c3e-9a55-2d6f0d6f0002',
    ];
    const admission = (ward: string): Promise<Received> =>
      transaction(
        'transaction',
        { fullUrl: patient, request: { method: 'POST', url: 'Patient' }, resource: { resourceType: 'Patient' } },
        { fullUrl: visit, request: { method: 'POST', url: 'Encounter' }, resource: encounter(ward, patient) },
      );
    expect((await asNurse('POST', '/Patient', { resourceType: 'Patient' })).status).toBe(403);
    expect((await admission('own-ward')).status).toBe(200);
    expect((await admission('canary-ward')).status).toBe(403);
  });

  it('cannot find hidden resources by a conditional reference', async () => {
    const withPerformer = (value: string): object => ({
      request: { method: 'POST', url: 'Observation' },
      resource: observation('own-p', {
        performer: [{ reference: `Practitioner?identifier=http://npi.example|${value}` }],
      }),
    });
    const [hidden, missing] = [
      await transaction('transaction', withPerformer('canary')),
      await transaction('transaction', withPerformer('nobody')),
    ];
    expect([hidden.status, hidden.text]).toEqual([422, missing.text]);
  });

  it('sent concurrently to one id store only what is granted', async () => {
    const sent = await Promise.all(
      Array.from({ length: 12 }, (_one, at) =>
        asNurse('PUT', '/Observation/own-race', observation(at % 2 === 0 ? 'own-p' : 'canary-p', named(`race-${at}`))),
      ),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 201, 403]));
    expect(await versionsOf('Observation/own-race')).toBe(6);
    expect((await app.get('/Observation/own-race/_history')).text).not.toContain('canary-p');
  });
});
