import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as PostgresClient } from 'pg';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { uploadAround } from '../../support/slow-upload';

const MASK = '***';

describe('Client and User', () => {
  let app: TestApp;
  let database: PostgresClient;
  let number = 0;
  const newId = (): string => `c-${++number}`;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_PASSWORD_HASH_SLOTS: '1', SVC_PASSWORD_HASH_QUEUE: '2' } });
    database = new PostgresClient({ connectionString: app.databaseUrl });
    await database.connect();
    await stored('/Client/door', { grant_types: ['password'] });
  });
  afterAll(async () => {
    await database.end();
    await app.close();
  });

  async function stored(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await app.put(path, body);
    expect({ status: [200, 201].includes(answer.status), text: answer.text }).toEqual({
      status: true,
      text: expect.any(String),
    });
    return answer.json();
  }

  const login = (username: string, password: string): Promise<Received> =>
    app.post('/auth/token', { grant_type: 'password', client_id: 'door', username, password }, { authorization: null });
  const loginStatus = async (username: string, password: string): Promise<number> =>
    (await login(username, password)).status;
  /** Returns 200 for the right secret, 401 for another. */
  const basicStatus = async (id: string, secret: string): Promise<number> => {
    const answer = await app.get('/Patient', { authorization: basicHeader(id, secret) });
    return answer.status;
  };
  const versionOf = ({ meta }: Record<string, unknown>): string => (meta as { versionId: string }).versionId;

  /** A type with a secret member, and the check that a secret is right. */
  const kinds = [
    {
      type: 'User',
      member: 'password',
      body: (id: string): object => ({ userName: id, title: 'Dr' }),
      works: async (id: string, secret: string): Promise<boolean> => (await loginStatus(id, secret)) === 200,
    },
    {
      type: 'Client',
      member: 'secret',
      body: (): object => ({ grant_types: ['basic'], description: 'Dr' }),
      works: async (id: string, secret: string): Promise<boolean> => (await basicStatus(id, secret)) !== 401,
    },
  ];

  describe.each(kinds)('$type: $member', ({ type, member, body, works }) => {
    it('is masked in every response that shows the resource', async () => {
      const id = newId();
      const canary = `canary of ${type} ${id} äöü`;
      const answers = [
        await app.put(`/${type}/${id}`, { ...body(id), [member]: canary }),
        await app.put(`/fhir/${type}/${id}`, { ...body(id), [member]: `${canary} again`, description: 'de' }),
        await app.get(`/${type}/${id}`),
        await app.get(`/${type}?_id=${id}`),
        await app.get(`/${type}/${id}/_history`),
        await app.get(`/${type}/${id}/_history/1`),
        await app.post(`/${type}`, { ...body(`${id}-posted`), id: `${id}-posted`, [member]: canary }),
        await app.delete(`/${type}/${id}`),
        await app.get(`/${type}/${id}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200, 201, 200, 410]);
      for (const { text } of answers) expect(text).not.toMatch(/canary|argon2|[0-9a-f]{64}/);
      for (const { text } of answers.slice(0, -1)) expect(text).toContain(`"${member}":"${MASK}"`);
    });

    it('is stored in no table except as a hash', async () => {
      const id = newId();
      const canary = `canary-${type}-${id}`;
      await stored(`/${type}/${id}`, { ...body(id), [member]: canary });
      await stored(`/${type}/${id}`, { ...body(id), [member]: `${canary}-2` });
      await app.post('/auth/token', {
        grant_type: 'password',
        client_id: id,
        client_secret: canary,
        username: id,
        password: canary,
      });
      const { rows } = await database.query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
      );
      expect(rows.length).toBeGreaterThan(10);
      for (const { name } of rows) {
        const found = await database.query(`select from "${name}" as row where row::text like $1`, [`%${canary}%`]);
        expect({ name, found: found.rowCount }).toEqual({ name, found: 0 });
      }
    });

    it.each<[string, (id: string, sent: Record<string, unknown>) => object]>([
      ['left out', (_id, { [member]: _secret, ...rest }) => rest],
      ['sent as its mask', (_id, sent) => sent],
      ['left out and other members change', (id) => ({ ...body(id), description: 'de' })],
      ['sent as its mask and other members change', (id) => ({ ...body(id), [member]: MASK, description: 'fr' })],
    ])('is kept when it is %s', async (_case, sent) => {
      const id = newId();
      const first = await stored(`/${type}/${id}`, { ...body(id), [member]: 'kept' });
      const second = await stored(`/${type}/${id}`, sent(id, first));
      expect([second[member], await works(id, 'kept'), await works(id, MASK)]).toEqual([MASK, true, false]);
    });

    it('creates no version when it is sent unchanged, left out or masked', async () => {
      const id = newId();
      const first = await stored(`/${type}/${id}`, { ...body(id), [member]: 'same' });
      for (const sent of [{ ...body(id), [member]: 'same' }, body(id), { ...body(id), [member]: MASK }, first]) {
        expect(await stored(`/${type}/${id}`, sent)).toEqual(first);
      }
      expect((await app.get(`/${type}/${id}/_history`)).json().total).toBe(1);
    });

    it('creates a version when it changes', async () => {
      const id = newId();
      await stored(`/${type}/${id}`, { ...body(id), [member]: 'old' });
      const second = await stored(`/${type}/${id}`, { ...body(id), [member]: 'new' });
      expect([versionOf(second), await works(id, 'old'), await works(id, 'new')]).toEqual(['2', false, true]);
    });

    it('is not changed by a write that is refused', async () => {
      const id = newId();
      await stored(`/${type}/${id}`, { ...body(id), [member]: 'old' });
      const answer = await app.put(
        `/${type}/${id}`,
        { ...body(id), [member]: 'new' },
        { headers: { 'If-Match': 'W/"7"' } },
      );
      expect([answer.status, await works(id, 'old'), await works(id, 'new')]).toEqual([412, true, false]);
    });

    it('is not inherited by a later resource with the same id', async () => {
      const id = newId();
      await stored(`/${type}/${id}`, { ...body(id), [member]: 'old' });
      await app.delete(`/${type}/${id}`);
      const again = await stored(`/${type}/${id}`, body(id));
      expect([again[member], await works(id, 'old')]).toEqual([undefined, false]);
    });

    it('is refused as a mask when none is stored', async () => {
      const id = newId();
      const answer = await app.put(`/${type}/${id}`, { ...body(id), [member]: MASK });
      expect([answer.status, answer.json().resourceType]).toEqual([422, 'OperationOutcome']);
    });
  });

  describe('User.userName', () => {
    it('is unique', async () => {
      const [first, second] = [newId(), newId()];
      await stored(`/User/${first}`, { userName: 'Taken' });
      const answer = await app.put(`/User/${second}`, { userName: 'Taken', password: 'x' });
      expect([answer.status, answer.json<{ issue: object[] }>().issue]).toEqual([
        409,
        [expect.objectContaining({ code: 'duplicate', expression: ['User.userName'] })],
      ]);
      expect((await app.get(`/User/${second}`)).status).toBe(404);
      await stored(`/User/${second}`, { userName: 'taken' });
    });

    it('is stored for only one of several concurrent Users', async () => {
      const ids = Array.from({ length: 8 }, newId);
      const answers = await Promise.all(ids.map((id) => app.put(`/User/${id}`, { userName: 'wanted' })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    });

    it('can be reused after its User is deleted or renamed', async () => {
      const [first, second, third] = [newId(), newId(), newId()];
      await stored(`/User/${first}`, { userName: 'wandering' });
      await app.delete(`/User/${first}`);
      await stored(`/User/${second}`, { userName: 'wandering' });
      await stored(`/User/${second}`, { userName: 'settled' });
      await stored(`/User/${third}`, { userName: 'wandering' });
    });

    it('cannot be used for a login after it was changed', async () => {
      const id = newId();
      await stored(`/User/${id}`, { userName: 'before', email: 'before@svc.example', password: 'right' });
      await stored(`/User/${id}`, { userName: 'after', email: 'after@svc.example' });
      const statuses: number[] = [];
      for (const name of ['before', 'before@svc.example', 'after', 'After@SVC.example', id]) {
        statuses.push(await loginStatus(name, 'right'));
      }
      expect(statuses).toEqual([400, 400, 200, 200, 200]);
    });
  });

  describe('S8.1: a login name', () => {
    const refusedMember = (answer: Received): unknown => [
      answer.status,
      answer.json<{ issue: { expression: string[] }[] }>().issue[0]?.expression,
    ];

    it('is unique among the userName, email and id of all Users', async () => {
      await stored('/User/owner-id', { userName: 'Owner@Name.example', email: 'Owner@Mail.example' });
      const refusals = [
        await app.put('/User/s81-1', { userName: 'owner@mail.EXAMPLE' }),
        await app.put('/User/s81-2', { userName: 'owner-id' }),
        await app.put('/User/s81-3', { email: 'owner@name.example' }),
        await app.put('/User/s81-4', { email: 'owner-id' }),
        await app.post('/User', { userName: 'owner-id' }),
      ].map(refusedMember);
      expect(refusals).toEqual([
        [409, ['User.userName']],
        [409, ['User.userName']],
        [409, ['User.email']],
        [409, ['User.email']],
        [409, ['User.userName']],
      ]);
      await stored('/User/s81-5', { userName: 's81-late', email: 's81-mail' });
      expect(refusedMember(await app.put('/User/s81-late', {}))).toEqual([409, ['User.id']]);
      expect(refusedMember(await app.put('/User/s81-mail', {}))).toEqual([409, ['User.id']]);
      // Emails may be shared; a shared email identifies no User.
      await stored('/User/s81-6', { userName: 's81-6', email: 'owner@mail.example' });
    });

    it('may be the same in all members of one User', async () => {
      await stored('/User/s81-same', { userName: 's81-same', email: 's81-same', password: 'right password' });
      expect(await loginStatus('s81-same', 'right password')).toBe(200);
    });

    it('is stored for only one of two concurrent Users, in any member', async () => {
      for (let round = 0; round < 8; round++) {
        const name = `s81-race-${round}`;
        const answers = await Promise.all([
          app.put(`/User/a-${round}`, { userName: name }),
          app.put(`/User/b-${round}`, { email: name.toUpperCase() }),
          app.put(`/User/${name}`, {}),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
      }
    });

    it('that two Users share in old data keeps its meaning, and both Users can still be changed', async () => {
      await stored('/User/s81-first', { userName: 's81-first', password: 'password of the first' });
      await stored('/User/s81-second', { userName: 's81-other', password: 'password of the second' });
      await database.query(`delete from user_login where user_id = 's81-first'`);
      await database.query(`update user_login set login = 's81-first' where user_id = 's81-second'`);
      expect(await loginStatus('s81-first', 'password of the first')).toBe(400);
      expect(await loginStatus('s81-first', 'password of the second')).toBe(200);
      await stored('/User/s81-second', { userName: 's81-other', title: 'Dr' });
      await stored('/User/s81-first', { userName: 's81-first', title: 'Dr' });
      await stored('/User/s81-first', { userName: 's81-renamed' });
      expect(await loginStatus('s81-renamed', 'password of the first')).toBe(200);
    });
  });

  it('returns a token without the key of the second factor', async () => {
    const id = newId();
    await stored(`/User/${id}`, {
      userName: id,
      password: 'right',
      twoFactor: { enabled: false, secretKey: 'JBSWY3DP' },
    });
    expect((await login(id, 'right')).text).not.toContain('JBSWY3DP');
  });

  describe('an invalid body', () => {
    it.each<[string, object, string]>([
      ['User', { password: 1 }, 'User.password'],
      ['User', { password: null }, 'User.password'],
      ['User', { password: '' }, 'User.password'],
      ['User', { password: 'x'.repeat(1025) }, 'User.password'],
      ['User', { userName: ['nurse'] }, 'User.userName'],
      ['User', { userName: '' }, 'User.userName'],
      ['User', { userName: 'x'.repeat(255) }, 'User.userName'],
      ['User', { email: 7 }, 'User.email'],
      ['User', { email: `${'x'.repeat(250)}@svc.example` }, 'User.email'],
      ['User', { inactive: 'true' }, 'User.inactive'],
      ['User', { active: 'yes' }, 'User.active'],
      ['User', { name: 'Joy' }, 'User.name'],
      ['User', { name: { givenName: ['Joy'] } }, 'User.name.givenName'],
      ['User', { displayName: 7 }, 'User.displayName'],
      ['User', { phoneNumber: 41 }, 'User.phoneNumber'],
      ['User', { emails: { value: 'a' } }, 'User.emails'],
      ['User', { emails: [{ value: 'a', primary: 'yes' }] }, 'User.emails[0].primary'],
      ['User', { photos: ['a'] }, 'User.photos[0]'],
      ['User', { addresses: [{ locality: 1 }] }, 'User.addresses[0].locality'],
      ['User', { organization: { resourceType: 'Patient', id: 'x' } }, 'User.organization.resourceType'],
      ['User', { manager: { resourceType: 'User' } }, 'User.manager.id'],
      ['User', { fhirUser: { resourceType: 'Device', id: 'x' } }, 'User.fhirUser.resourceType'],
      ['User', { identifier: [{ system: 7 }] }, 'User.identifier[0].system'],
      ['User', { link: [{ link: 'Patient/1' }] }, 'User.link[0].link'],
      ['User', { securityLabel: [{ code: 1 }] }, 'User.securityLabel[0].code'],
      ['User', { twoFactor: { enabled: 'yes' } }, 'User.twoFactor.enabled'],
      ['Client', { name: 1 }, 'Client.name'],
      ['Client', { scope: 'ward.read' }, 'Client.scope'],
      ['Client', { scope: ['ward read'] }, 'Client.scope'],
      ['Client', { secret: 'x'.repeat(1025) }, 'Client.secret'],
      ['Client', { allowed_origins: 'https://a.example' }, 'Client.allowed_origins'],
      ['Client', { jwks: [{ kid: 'x' }] }, 'Client.jwks[0].kty'],
      ['Client', { smart: { launch_uri: 1 } }, 'Client.smart.launch_uri'],
      ['Client', { trusted: 'yes' }, 'Client.trusted'],
      ['Client', { auth: { client_credentials: [] } }, 'Client.auth.client_credentials'],
      [
        'Client',
        { auth: { client_credentials: { token_format: 'x' } } },
        'Client.auth.client_credentials.token_format',
      ],
      ['Client', { auth: { password: { audience: 'https://a.example' } } }, 'Client.auth.password.audience'],
      ['Client', { auth: { password: { audience: [''] } } }, 'Client.auth.password.audience'],
      ['Client', { auth: { authorization_code: { pkce: 'S256' } } }, 'Client.auth.authorization_code.pkce'],
      ['Client', { auth: { magic: {} } }, 'Client.auth.magic'],
      ['Client', { secret: '' }, 'Client.secret'],
      ['Client', { secret: { text: 'x' } }, 'Client.secret'],
      ['Client', { grant_types: 'password' }, 'Client.grant_types'],
      ['Client', { grant_types: ['password', 7] }, 'Client.grant_types'],
      ['Client', { grant_types: ['Password'] }, 'Client.grant_types'],
      ['Client', { active: 'no' }, 'Client.active'],
      ['Client', { auth: [] }, 'Client.auth'],
      ['Client', { auth: { password: true } }, 'Client.auth.password'],
      ['Client', { auth: { password: { token_format: 'opaque' } } }, 'Client.auth.password.token_format'],
      ['Client', { auth: { password: { token_expiration: 0 } } }, 'Client.auth.password.token_expiration'],
      ['Client', { auth: { password: { token_expiration: -60 } } }, 'Client.auth.password.token_expiration'],
      ['Client', { auth: { password: { token_expiration: 1.5 } } }, 'Client.auth.password.token_expiration'],
      ['Client', { auth: { password: { token_expiration: '60' } } }, 'Client.auth.password.token_expiration'],
      ['Client', { auth: { password: { token_expiration: 2 ** 31 } } }, 'Client.auth.password.token_expiration'],
      ['Client', { auth: { password: { token_expiration: null } } }, 'Client.auth.password.token_expiration'],
      [
        'Client',
        { auth: { password: { refresh_token_expiration: 2 ** 53 } } },
        'Client.auth.password.refresh_token_expiration',
      ],
      ['Client', { auth: { password: { refresh_token: 'yes' } } }, 'Client.auth.password.refresh_token'],
      ['Client', { auth: { password: { secret_required: 1 } } }, 'Client.auth.password.secret_required'],
    ])('of %s %j is refused', async (type, body, expression) => {
      const id = newId();
      const answer = await app.put(`/${type}/${id}`, body);
      expect([answer.status, answer.json<{ issue: { expression: string[] }[] }>().issue[0]?.expression]).toEqual([
        422,
        [expression],
      ]);
      expect((await app.get(`/${type}/${id}`)).status).toBe(404);
    });
  });

  it.each([
    ['pasword', 'Did you mean "password"?'],
    ['telepathy', 'no grant type. Served are'],
  ])('C10.4: names the wrong grant type %s, and suggests only supported ones', async (wrong, hint) => {
    const answer = await app.put(`/Client/${newId()}`, { grant_types: ['basic', wrong] });
    const [issue] = answer.json<{ issue: { diagnostics: string }[] }>().issue;
    expect([answer.status, issue?.diagnostics]).toEqual([422, expect.stringContaining(`holds "${wrong}"`)]);
    expect(issue?.diagnostics).toContain(hint);
    expect(issue?.diagnostics).not.toMatch(/implicit|code|token-exchange/);
    expect(issue?.diagnostics).toMatch(/basic, password, client_credentials, refresh_token/);
  });

  it('C10.4: accepts grant types that are planned but not yet supported', async () => {
    const grantTypes = ['authorization_code', 'code', 'implicit', 'urn:ietf:params:oauth:grant-type:token-exchange'];
    expect((await app.put(`/Client/${newId()}`, { grant_types: grantTypes })).status).toBe(201);
  });

  it('keeps unknown members', async () => {
    const id = newId();
    const body = {
      userName: id,
      department: 'cardiology',
      'x-level': 1.1,
      'x-list': [1, null, { a: [] }],
      'x-null': null,
      name: { givenName: 'Joy', 'x-nickname': 'J' },
      roles: [{ value: 'nurse', 'x-since': 2020 }],
      organization: { resourceType: 'Organization', id: 'o1' },
      identifier: [{ system: 'http://a.example', value: '7' }],
    };
    expect(await stored(`/User/${id}`, body)).toMatchObject(body);
  });

  describe('HTTP Basic on any call', () => {
    it('is accepted for active Clients that have `basic` among their grant types', async () => {
      const [basic, password, retired] = [newId(), newId(), newId()];
      await stored(`/Client/${basic}`, { secret: 'right', grant_types: ['basic'] });
      await stored(`/Client/${password}`, { secret: 'right', grant_types: ['password'] });
      await stored(`/Client/${retired}`, { secret: 'right', grant_types: ['basic'], active: false });
      await stored(`/AccessPolicy/${basic}`, { engine: 'allow', link: [{ resourceType: 'Client', id: basic }] });
      const secretless = newId();
      await stored(`/Client/${secretless}`, { grant_types: ['basic'] });
      const statuses = [
        await basicStatus(basic, 'right'),
        await basicStatus(basic, 'wrong'),
        await basicStatus(basic, ''),
        await basicStatus(password, 'right'),
        await basicStatus(retired, 'right'),
        await basicStatus(secretless, ''),
        await basicStatus(secretless, 'any'),
        await basicStatus('nobody', 'right'),
      ];
      expect(statuses).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
    });

    it('is refused once the Client, its secret or its grant type is removed', async () => {
      const id = newId();
      const body = { secret: 'first', grant_types: ['basic'] };
      await stored(`/Client/${id}`, body);
      expect(await basicStatus(id, 'first')).toBe(403);
      await stored(`/Client/${id}`, { ...body, secret: 'second' });
      expect([await basicStatus(id, 'first'), await basicStatus(id, 'second')]).toEqual([401, 403]);
      await stored(`/Client/${id}`, { grant_types: ['password'] });
      expect(await basicStatus(id, 'second')).toBe(401);
      await stored(`/Client/${id}`, body);
      await app.delete(`/Client/${id}`);
      expect(await basicStatus(id, 'first')).toBe(401);
    });

    it('is refused for an upload that began before the Client was deactivated', async () => {
      const id = newId();
      const body = { secret: 'right', grant_types: ['basic'] };
      await stored(`/Client/${id}`, body);
      await stored(`/AccessPolicy/${id}`, { engine: 'allow', link: [{ resourceType: 'Client', id }] });
      const status = await uploadAround(app, basicHeader(id, 'right'), async () => {
        await stored(`/Client/${id}`, { ...body, active: false });
      });
      expect([status, (await app.get('/fhir/Patient/uploaded')).status]).toEqual([401, 404]);
    });
  });

  it('returns 503 for logins when too many wait for a hash, and recovers', async () => {
    const id = newId();
    await stored(`/User/${id}`, { userName: id, password: 'right' });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => login(index % 2 ? id : 'nobody', 'right')),
    );
    const busy = answers.filter(({ status }) => status === 503);
    expect(busy.length).toBeGreaterThan(0);
    for (const answer of busy) {
      expect([answer.headers.get('retry-after'), answer.headers.get('cache-control'), answer.json().error]).toEqual([
        '1',
        'no-store',
        'temporarily_unavailable',
      ]);
    }
    expect([await loginStatus('nobody', 'right'), await loginStatus(id, 'right')]).toEqual([400, 200]);
  });
});
