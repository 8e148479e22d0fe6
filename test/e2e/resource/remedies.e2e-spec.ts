import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { gzipSync } from 'node:zlib';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { OnResourceChange, type ResourceChangeListener } from '../../../src/resource/hooks/resource-change';
import { login } from '../../../testing/world';
import { type Received, ROOT, startTestApp, type TestApp } from '../../../testing/test-app';
import { transactionOn } from '../../support/bundle';

interface Issue {
  readonly code: string;
  readonly diagnostics: string;
  readonly expression?: readonly string[];
}

/** A listener of another team that vetoes each Flag. */
@Injectable()
@OnResourceChange({ types: ['Flag'] })
class Veto implements ResourceChangeListener {
  onChange(): Promise<void> {
    return Promise.reject(new ServiceError('conflict', 'No Flag while the ward is closed. Try again tomorrow.'));
  }
}

@Module({ providers: [Veto] })
class VetoModule {}

describe('errors with a remedy', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_BODY_LIMIT_BYTES: '1572864' }, modules: [VetoModule] });
    await app.put('/fhir/Patient/kept', { resourceType: 'Patient' });
    await app.put('/fhir/Patient/gone', { resourceType: 'Patient' });
    await app.delete('/fhir/Patient/gone');
  });
  afterAll(() => app.close());

  const issueOf = (answer: Received): Issue => {
    const [issue] = answer.json<{ issue: readonly Issue[] }>().issue;
    if (issue === undefined) throw new Error(answer.text);
    return issue;
  };
  const statusAndText = (answer: Received): readonly [number, string] => [answer.status, issueOf(answer).diagnostics];
  const fetched = async (path: string, init: RequestInit): Promise<readonly [number, string]> => {
    const answer = await fetch(`${app.url}${path}`, init);
    return [answer.status, await answer.text()];
  };

  it('C10.1: the error for a large body has the limit', async () => {
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ text: 'x'.repeat(1_600_000) }] });
    expect(statusAndText(await app.post('/fhir/Patient', body))).toEqual([
      413,
      'The request body is larger than the 1.5 MiB that this server takes. Send it in parts.',
    ]);
  });

  it.each([
    ['GET', '/fhir/Patint/1', 'Did you mean "Patient"?'],
    ['GET', '/patient', 'Did you mean "Patient"?'],
    ['GET', '/fhir/PATIENT/kept', 'Did you mean "Patient"?'],
    ['GET', '/FHIR/Patient/kept', 'Did you mean "fhir"?'],
    ['GET', '/Patient/kept/everything', 'Did you mean "$everything"?'],
    ['GET', '/Patient/kept/_everything', 'Did you mean "$everything"?'],
    ['GET', '/Patient/kept/$Everything', 'Did you mean $everything?'],
    ['GET', '/Patient/kept/history', 'Did you mean "_history"?'],
    ['GET', '/fhir/Patient/history', 'Did you mean "/Patient/_history"?'],
    ['GET', '/Patient/search', 'Did you mean "/Patient/_search"?'],
    ['POST', '/search', 'Did you mean "_search"?'],
    ['GET', '/Patient/Validate', 'Did you mean "/Patient/$validate"?'],
    ['GET', '/Metadata', 'Did you mean "metadata"?'],
    ['POST', '/fhir/Observatoin', 'Did you mean "Observation"?'],
    ['GET', '/fhir/SDCDocumnet', 'Did you mean "SDCDocument"?'],
    ['GET', '/fhir/Spaceship', 'GET /metadata lists those that are.'],
    ['GET', '/fhir/fhir/Patient', 'GET /metadata lists those that are.'],
    ['GET', '/fhir/_search', 'GET /metadata lists those that are.'],
  ])('C10.2: %s %s suggests the nearest type or route, or says where types are listed', async (method, path, hint) => {
    const answer = await app.send(method, path, method === 'POST' ? { body: {} } : {});
    expect(statusAndText(answer)).toEqual([404, expect.stringContaining(hint)]);
  });

  it.each([
    ['kept%20', '" " (U+0020)'],
    ['kept%09', '"\\t" (U+0009)'],
    ['%E2%80%8Bkept', '"\u200B" (U+200B)'],
    ['a_b', '"_" (U+005F)'],
    ['x'.repeat(70), '70 of them'],
  ])('the refusal of the id %s shows what is wrong', async (id, has) => {
    expect(statusAndText(await app.get(`/fhir/Patient/${id}`))).toEqual([
      400,
      expect.stringContaining(`this one has ${has}`),
    ]);
  });

  it('C10.2: an entry of a Bundle with a misspelt type gets the nearest type', async () => {
    const entry = [{ request: { method: 'GET', url: 'Patint/1' } }];
    const answer = await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    expect(answer.text).toContain('Did you mean');
  });

  it('C10.6: a veto of kind conflict has the code conflict; a duplicate id has the code duplicate', async () => {
    const flag = {
      resourceType: 'Flag',
      status: 'active',
      code: { text: 'x' },
      subject: { reference: 'Patient/kept' },
    };
    const vetoed = await app.post('/fhir/Flag', flag);
    expect([vetoed.status, issueOf(vetoed).code]).toEqual([409, 'conflict']);
    const taken = await app.post('/fhir/Patient', { resourceType: 'Patient', id: 'kept' });
    expect([taken.status, issueOf(taken).code]).toEqual([409, 'duplicate']);
  });

  it('C10.8: a body that cannot be decompressed, and a URL that cannot be decoded, have different errors', async () => {
    const authorized = { Authorization: ROOT, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    const broken = await fetched('/fhir/Patient', { method: 'POST', headers: authorized, body: 'no gzip' });
    expect(broken).toEqual([
      400,
      expect.stringMatching(/cannot be unpacked: it is not what its Content-Encoding names/),
    ]);
    const cut = new Uint8Array(gzipSync('{"resourceType":"Patient"}').subarray(0, 20));
    expect(await fetched('/fhir/Patient', { method: 'POST', headers: authorized, body: cut })).toEqual([
      400,
      expect.stringContaining('cannot be unpacked'),
    ]);
    const url = await fetched('/fhir/Patient/%zz', { headers: { Authorization: ROOT } });
    expect(url).toEqual([400, expect.stringMatching(/URL cannot be decoded.*%25/)]);
  });

  it.each(['DELETE', 'POST', 'PUT'])('C10.9: the error for %s /metadata says what to send', async (method) => {
    const answer = await app.send(method, '/fhir/metadata');
    expect(statusAndText(answer)).toEqual([405, 'The CapabilityStatement can only be read: send GET /metadata.']);
  });

  describe('C10.12: a remedy is returned for', () => {
    it.each([
      ['404', 'GET', '/fhir/Patient/never', 404, 'search with GET /Patient'],
      ['410', 'GET', '/fhir/Patient/gone', 410, 'GET /Patient/gone/_history'],
      ['410 of a PATCH', 'PATCH', '/fhir/Patient/gone', 410, 'GET /Patient/gone/_history'],
      ['an unknown version', 'GET', '/fhir/Patient/kept/_history/9', 404, 'GET /Patient/kept/_history lists'],
      ['a version that is not a number', 'GET', '/fhir/Patient/kept/_history/x', 404, 'a whole number such as 2'],
      ['405 on SDCAddendum', 'POST', '/fhir/SDCAddendum', 405, 'svc.sdc.addendum/create-addendum'],
      ['405 on one SDCAddendum', 'DELETE', '/SDCAddendum/x', 405, 'POST /rpc'],
      ['a conditional patch without a match', 'PATCH', '/Patient?_id=never', 404, 'GET /Patient?'],
    ])('%s', async (_, method, path, status, remedy) => {
      const headers = { 'Content-Type': 'application/merge-patch+json' };
      const answer = await app.send(method, path, method === 'PATCH' ? { body: {}, headers } : {});
      expect(statusAndText(answer)).toEqual([status, expect.stringContaining(remedy)]);
    });

    it('a closed token', async () => {
      const { bearer } = await login(app, 'remedies');
      await app.delete('/Session', { authorization: bearer });
      const answer = await app.get('/fhir/Patient', { authorization: bearer });
      expect(statusAndText(answer)).toEqual([401, expect.stringContaining('Get another one with POST /auth/token')]);
    });

    it('a refresh token', async () => {
      const grants = { grant_types: ['password'], auth: { password: { refresh_token: true } } };
      await app.put('/Client/refresher', { ...grants, secret: 'refresher-secret' });
      const form = new URLSearchParams({
        ...{ grant_type: 'refresh_token', refresh_token: 'never' },
        ...{ client_id: 'refresher', client_secret: 'refresher-secret' },
      });
      const [status, text] = await fetched('/auth/token', { method: 'POST', body: form });
      expect([status, JSON.parse(text)]).toEqual([
        400,
        {
          error: 'invalid_grant',
          error_description: expect.stringContaining('Log in again'),
          error_uri: expect.stringContaining('#refresh-token-rejected'),
        },
      ]);
    });

    it('a duplicate userName', async () => {
      await app.put('/User/first', { userName: 'taken' });
      const answer = await app.put('/User/second', { userName: 'taken' });
      expect(statusAndText(answer)).toEqual([
        409,
        'Another User has this userName as a login name. Choose another one.',
      ]);
    });

    it.each<[string, object, string]>([
      ['without a request', {}, 'Add one, such as {"method": "PUT", "url": "Patient/p7"}'],
      ['without a method', { request: { url: 'Patient' } }, 'Add GET, POST, PUT, PATCH or DELETE'],
      ['without a URL', { request: { method: 'GET' } }, 'Add one, such as Patient/p7'],
      ['without a resource', { request: { method: 'POST', url: 'Patient' } }, 'Add it to the entry'],
    ])('an entry %s', async (_, entry, remedy) => {
      const answer = await transactionOn(app, [entry]);
      expect(statusAndText(answer)).toEqual([400, expect.stringContaining(remedy)]);
    });

    it('a condition with several matches', async () => {
      const identifier = [{ value: 'several' }];
      for (const id of ['several-1', 'several-2'])
        await app.put(`/Patient/${id}`, { resourceType: 'Patient', identifier });
      const answer = await app.put('/Patient?identifier=several', { resourceType: 'Patient' });
      expect(statusAndText(answer)).toEqual([412, expect.stringContaining('or name one resource by its id')]);
    });
  });

  it('C10.13: the error for a deep body has a shortened path', async () => {
    const answer = await app.post('/fhir/Patient', `${'{"extension":['.repeat(40)}${']}'.repeat(40)}`);
    expect(statusAndText(answer)).toEqual([
      400,
      expect.stringMatching(
        /^Deeper than 64 levels: nest less \(extension\[0\].{1,60}…[^…]{1,60}, line 1, column \d+\)$/,
      ),
    ]);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'text/yaml', 'application/xml'])(
    'C13.4: /rpc refuses %s, and says what to send',
    async (type) => {
      const body = JSON.stringify({ method: 'svc/echo', params: { text: 'x' } });
      const answer = await app.post('/rpc', body, { headers: { 'Content-Type': type } });
      expect([answer.status, answer.json()]).toEqual([
        415,
        { error: { message: 'Send the call as application/json.', type: 'unsupported-media-type' } },
      ]);
      const stranger = await app.post('/rpc', body, { headers: { 'Content-Type': type }, authorization: null });
      expect(stranger.status).toBe(401);
    },
  );

  it.each(['application/json', 'application/json; charset=utf-8', 'application/fhir+json'])(
    'C13.4: /rpc accepts %s',
    async (type) => {
      const body = JSON.stringify({ method: 'svc/echo', params: { text: 'x' } });
      expect((await app.post('/rpc', body, { headers: { 'Content-Type': type } })).status).toBe(200);
    },
  );
});
