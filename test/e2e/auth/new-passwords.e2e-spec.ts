import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type Received, type TestApp, ROOT_SECRET, encryptionKey, startTestApp } from '../../../testing/test-app';

const MIN_LENGTH = { SVC_PASSWORD_MIN_LENGTH: '8' };

describe('S8.8: the minimum length of new passwords', () => {
  let app: TestApp;
  let database: Client;

  beforeAll(async () => {
    app = await startTestApp({ environment: MIN_LENGTH });
    database = await app.connect();
    await app.put('/Client/door', { grant_types: ['password'] });
  });
  afterAll(() => app.close());

  const put = (password: string, id = 'nurse'): Promise<Received> => app.put(`/User/${id}`, { userName: id, password });
  const logIn = (username: string, password: string): Promise<Received> =>
    app.post('/auth/token', { grant_type: 'password', client_id: 'door', username, password }, { authorization: null });
  const refusalOf = (answer: Received): unknown => {
    const { issue } = answer.json<{ issue: { diagnostics: string; expression: string[] }[] }>();
    return [answer.status, issue[0]?.diagnostics, issue[0]?.expression];
  };
  /** Stores a short password, as an older release or another setting allowed. */
  const storeShort = async (id: string): Promise<void> => {
    const lenient = await startTestApp({
      environment: { SVC_PASSWORD_MIN_LENGTH: '1' },
      databaseUrl: app.databaseUrl,
    });
    await lenient.put(`/User/${id}`, { userName: id, password: 'x' });
    await lenient.close();
  };

  it.each([
    ['seven letters as seven characters: 422', '1234567', 422],
    ['eight letters as eight: 201', '12345678', 201],
    ['seven two-byte letters as seven: 422', 'äöüäöüä', 422],
    ['seven emoji as seven, not fourteen: 422', '😀😀😀😀😀😀😀', 422],
    ['eight emoji as eight: 201', '😀😀😀😀😀😀😀😀', 201],
    ['a decomposed letter as one: 422', 'a\u0308bcdefg', 422],
  ])('counts %s', async (_case, password, status) => {
    expect((await put(password, `user-${password.length}-${status}`)).status).toBe(status);
  });

  it('returns the reason for a password that is too short', async () => {
    expect(refusalOf(await put('short'))).toEqual([422, 'User.password has at least 8 characters.', ['User.password']]);
    await put('a long password');
    const { access_token: token } = (await logIn('nurse', 'a long password')).json<{ access_token: string }>();
    const change = await app.post(
      '/auth/change-password',
      { currentPassword: 'a long password', newPassword: 'short' },
      { authorization: `Bearer ${token}` },
    );
    expect(refusalOf(change)).toEqual([422, 'newPassword has at least 8 characters.', ['newPassword']]);
    expect((await put('another')).status).toBe(422);
    expect((await logIn('nurse', 'a long password')).status).toBe(200);
  });

  it('does not apply to a stored password or to a hash', async () => {
    await storeShort('old');
    expect((await logIn('old', 'x')).status).toBe(200);
    expect((await put('x', 'old')).status).toBe(200);
    expect((await app.put('/User/old', { userName: 'old', password: '***', title: 'Dr' })).status).toBe(200);
    expect((await put('y', 'old')).status).toBe(422);
    const { rows } = await database.query<{ password_hash: string }>(
      `select password_hash from user_password where user_id = 'old'`,
    );
    expect((await put(rows[0]?.password_hash ?? '', 'imported')).status).toBe(201);
    expect((await logIn('imported', 'x')).status).toBe(200);
  });

  it('applies to SVC_ADMIN_PASSWORD only at the first start', async () => {
    const environment = { ...MIN_LENGTH, SVC_ADMIN_PASSWORD: 'short', SVC_ROOT_CLIENT_SECRET: ROOT_SECRET };
    const again = await startTestApp({ environment, databaseUrl: app.databaseUrl });
    await again.close();
    const first = startTestApp({ environment: { ...environment, SVC_ENCRYPTION_KEY: encryptionKey() } });
    await expect(first).rejects.toThrow('SVC_ADMIN_PASSWORD has at least 8 characters.');
  });
});
