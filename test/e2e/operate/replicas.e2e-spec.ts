import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';

describe('two servers on one database', () => {
  let first: TestApp;
  let second: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    first = await startTestApp();
    second = await startTestApp({ databaseUrl: first.databaseUrl });
    nurse = await login(first, 'nurse', { policies: [] });
  });
  afterAll(async () => {
    await second.close();
    await first.close();
  });

  const servers = (): [TestApp, TestApp][] => [
    [first, second],
    [second, first],
  ];
  const linkedTo = (userId: string): object => ({ engine: 'allow', link: [{ resourceType: 'User', id: userId }] });
  const statusOn = async (server: TestApp, bearer: string): Promise<number> =>
    (await server.get('/Patient', { authorization: bearer })).status;
  const askToken = (server: TestApp, { clientId, clientSecret }: Person, parameters: object): Promise<Received> =>
    server.post(
      '/auth/token',
      { client_id: clientId, client_secret: clientSecret, ...parameters },
      { authorization: null },
    );
  const logIn = async (server: TestApp, person = nurse): Promise<{ bearer: string; refreshToken: string }> => {
    const { userId: username, password } = person;
    const answer = await askToken(server, person, { grant_type: 'password', username, password });
    const { access_token: token, refresh_token: refreshToken } = answer.json<Record<string, string>>();
    return { bearer: `Bearer ${token ?? ''}`, refreshToken: refreshToken ?? '' };
  };
  const refresh = (server: TestApp, token: string): Promise<Received> =>
    askToken(server, nurse, { grant_type: 'refresh_token', refresh_token: token });

  it('are initialized once', async () => {
    for (const type of ['Client', 'User', 'AccessPolicy']) {
      const { entry } = (await second.get(`/${type}?_count=100`)).json<{ entry: { resource: { id: string } }[] }>();
      const ids = entry.map(({ resource }) => resource.id).filter((id) => !id.includes('nurse'));
      expect({ type, ids: ids.sort() }).toEqual({
        type,
        ids: type === 'AccessPolicy' ? ['admin', 'root'] : [expect.any(String)],
      });
      for (const id of ids) {
        expect((await first.get(`/${type}/${id}`)).json()).toMatchObject({ meta: { versionId: '1' } });
      }
    }
  });

  it('publish the same keys', async () => {
    const [one, other] = [await first.get('/.well-known/jwks.json'), await second.get('/.well-known/jwks.json')];
    expect(one.json<{ keys: object[] }>().keys).toHaveLength(1);
    expect(one.text).toBe(other.text);
  });

  it('share tokens, refreshes and closes of Sessions', async () => {
    for (const [here, there] of servers()) {
      const { bearer, refreshToken } = await logIn(here);
      expect(await statusOn(there, bearer)).toBe(403);
      const answer = await refresh(there, refreshToken);
      const next = `Bearer ${answer.json<{ access_token: string }>().access_token}`;
      expect([await statusOn(here, bearer), await statusOn(here, next)]).toEqual([401, 403]);
      expect((await there.delete('/Session', { authorization: next })).status).toBe(200);
      expect(await statusOn(here, next)).toBe(401);
    }
  });

  it('let one of 16 uses of a refresh token succeed, on either server', async () => {
    const { refreshToken } = await logIn(first);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => refresh(index % 2 === 0 ? first : second, refreshToken)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 15 }, () => 400)]);
  });

  it('apply a policy from the response to its creation until the response to its deletion', async () => {
    const { bearer } = await logIn(first);
    for (let round = 0; round < 5; round++) {
      for (const [here, there] of servers()) {
        // Both servers have decided before, so both have cached policies.
        expect([await statusOn(here, bearer), await statusOn(there, bearer)]).toEqual([403, 403]);
        await here.put('/AccessPolicy/shared', linkedTo('nurse'));
        expect(await statusOn(there, bearer)).toBe(200);
        await here.put('/AccessPolicy/shared', linkedTo('somebody'));
        expect(await statusOn(there, bearer)).toBe(403);
        await here.put('/AccessPolicy/shared', linkedTo('nurse'));
        await here.delete('/AccessPolicy/shared');
        expect(await statusOn(there, bearer)).toBe(403);
      }
    }
  });

  it('apply a policy to Basic callers too', async () => {
    await first.put('/Client/machine', { secret: 'machine', grant_types: ['basic'] });
    const authorization = `Basic ${Buffer.from('machine:machine').toString('base64')}`;
    for (const [here, there] of servers()) {
      expect(await statusOn(there, authorization)).toBe(403);
      await here.put('/AccessPolicy/machine', { engine: 'allow', link: [{ resourceType: 'Client', id: 'machine' }] });
      expect(await statusOn(there, authorization)).toBe(200);
      await here.delete('/AccessPolicy/machine');
      expect(await statusOn(there, authorization)).toBe(403);
    }
  });

  it('deactivate a User on both at once', async () => {
    for (const [here, there] of servers()) {
      const person = await login(here, `user-of-${here === first ? 'first' : 'second'}`);
      const tokens = [person.bearer, (await logIn(there, person)).bearer];
      const user = (await here.get(`/User/${person.userId}`)).json<object>();
      expect((await here.put(`/User/${person.userId}`, { ...user, inactive: true })).status).toBe(200);
      for (const bearer of tokens)
        expect([await statusOn(here, bearer), await statusOn(there, bearer)]).toEqual([401, 401]);
      const { userId: username, password } = person;
      const answer = await askToken(there, person, { grant_type: 'password', username, password });
      expect(answer.json()).toEqual({
        error: 'invalid_grant',
        error_description: 'User is inactive',
        error_uri: expect.stringContaining('#user-inactive'),
      });
    }
  });

  it('apply a changed password and a changed Client at once', async () => {
    for (const [here, there] of servers()) {
      const person = await login(here, `changed-on-${here === first ? 'first' : 'second'}`);
      const asked = async (password: string, clientSecret: string): Promise<number> =>
        (
          await askToken(
            there,
            { ...person, clientSecret },
            { grant_type: 'password', username: person.userId, password },
          )
        ).status;
      expect(await asked(person.password, person.clientSecret)).toBe(200);
      await here.put(`/User/${person.userId}`, { userName: person.userId, password: 'changed' });
      await here.put(`/Client/${person.clientId}`, { secret: 'changed', grant_types: ['password'] });
      expect([await asked(person.password, 'changed'), await asked('changed', person.clientSecret)]).toEqual([
        400, 401,
      ]);
      expect(await asked('changed', 'changed')).toBe(200);
    }
  });
});
