import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Received, type TestApp, startTestApp } from '../../testing/test-app';
import { codeIn, rowsOf } from './documents';

const rows = rowsOf('docs/reference/tokens.md', 'Errors').map(([text = '', status = '', error]) => ({
  text,
  status: Number.parseInt(status, 10),
  error: codeIn(error)[0],
}));

describe('the errors of docs/reference/tokens.md', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_CREDENTIAL_FAILURES_FREE: '2' } });
    await app.put('/Client/ward', { grant_types: ['password'] });
    await app.put('/User/left', { userName: 'left', password: 'password of left', inactive: true });
    await app.put('/User/nurse', { userName: 'nurse', password: 'password of nurse' });
  });
  afterAll(() => app.close());

  const logIn = (username: string, password: string): Promise<Received> =>
    app.post('/auth/token', { grant_type: 'password', client_id: 'ward', username, password }, { authorization: null });
  const refusalOf = (answer: Received): unknown[] => {
    const { error, error_description: text } = answer.json<{ error: string; error_description: string }>();
    return [answer.status, error, text];
  };

  it('C12.15: include the 429 response after too many wrong passwords', async () => {
    const answers = [
      await logIn('nurse', 'a'),
      await logIn('nurse', 'b'),
      await logIn('nurse', 'c'),
      await logIn('nurse', 'd'),
    ];
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
    const [status, error] = refused === undefined ? [] : refusalOf(refused);
    expect(rows).toContainEqual({ status, error, text: expect.stringContaining('Too many wrong passwords') });
  });

  it('C12.16: include both responses to an inactive User', async () => {
    const [wrong, unknown, right] = [
      refusalOf(await logIn('left', 'wrong')),
      refusalOf(await logIn('nobody', 'wrong')),
      refusalOf(await logIn('left', 'password of left')),
    ];
    expect([wrong, right]).toEqual([unknown, [400, 'invalid_grant', 'User is inactive']]);
    const row = rows.find(({ text }) => text.startsWith('Inactive user'));
    expect(row).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(row?.text).toMatch(/`User is inactive` after the right password, as for an unknown user after a wrong one/);
  });
});
