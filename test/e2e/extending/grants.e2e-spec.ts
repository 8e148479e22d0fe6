import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type Received, startTestApp, type TestApp } from 'svc-health-server/testing';
import {
  AuthModule,
  type Client,
  CredentialGuard,
  type Grant,
  GrantOf,
  OAuthError,
  SessionModule,
  TokenIssuer,
  TokenOwners,
  type TokenRequest,
  type TokenResponse,
  UnitOfWork,
} from '../../../src/index';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** A grant that only a Client with its secret may use. */
@Injectable()
@GrantOf(EXCHANGE)
class Exchange implements Grant {
  constructor(
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  requiresSecret(): boolean {
    return true;
  }

  exchange(client: Client): Promise<TokenResponse> {
    return this.unitOfWork.run(async () =>
      this.issuer.issue({ client, user: await this.owners.hold(client, 'nurse'), grantType: EXCHANGE }),
    );
  }
}

const BADGE = 'urn:acme:badge';

/** A grant whose credential can be guessed. */
@Injectable()
@GrantOf(BADGE)
class Badge implements Grant {
  constructor(
    private readonly owners: TokenOwners,
    private readonly issuer: TokenIssuer,
    private readonly unitOfWork: UnitOfWork,
    private readonly guesses: CredentialGuard,
  ) {}

  exchange(client: Client, request: TokenRequest): Promise<TokenResponse> {
    const pin = request.parameter('pin') ?? '';
    return this.guesses.judge({ kind: 'user', name: 'nurse' }, [pin], () => this.issue(client, pin));
  }

  private issue(client: Client, pin: string): Promise<TokenResponse> {
    if (pin === 'lost') throw new OAuthError('invalid_grant', 'The badge is lost');
    if (pin !== '1234') throw OAuthError.wrongGuess('The PIN is wrong');
    return this.unitOfWork.run(async () =>
      this.issuer.issue({ client, user: await this.owners.hold(client, 'nurse'), grantType: BADGE }),
    );
  }
}

@Module({ imports: [AuthModule, SessionModule], providers: [Exchange, Badge] })
class GrantsModule {}

const KIOSK = {
  grant_types: [EXCHANGE, 'refresh_token'],
  secret: 's',
  auth: { token_exchange: { refresh_token: true } },
};

describe('a grant of a module', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [GrantsModule], environment: { SVC_CREDENTIAL_FAILURES_FREE: '2' } });
    await stored('/Client/kiosk', KIOSK);
    await stored('/Client/reader', { grant_types: [BADGE] });
    await stored('/User/nurse', { userName: 'nurse', password: 'a long password' });
  });
  afterAll(() => app.close());

  async function stored(path: string, body: object): Promise<void> {
    const answer = await app.put(path, body);
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
  }
  const ask = (parameters: Record<string, unknown>, path = '/auth/token'): Promise<Received> =>
    app.post(path, { client_id: 'kiosk', ...parameters }, { authorization: null });
  const outcomeOf = (answer: Received): unknown[] => [
    answer.status,
    answer.text === '' ? undefined : answer.json<{ error?: string }>().error,
  ];
  const refreshToken = async (): Promise<string> => {
    const issued = await ask({ grant_type: EXCHANGE, client_secret: 's' });
    return issued.json<{ refresh_token: string }>().refresh_token;
  };

  describe('that requires the secret of its Client', () => {
    it('requires it for its refresh tokens too (RFC 6749, section 6)', async () => {
      expect(outcomeOf(await ask({ grant_type: EXCHANGE }))).toEqual([401, 'invalid_client']);
      const token = await refreshToken();
      const refresh = { grant_type: 'refresh_token', refresh_token: token };
      expect(outcomeOf(await ask(refresh))).toEqual([401, 'invalid_client']);
      expect(outcomeOf(await ask({ ...refresh, client_secret: 's' }))).toEqual([200, undefined]);
    });

    it('requires it to revoke them (RFC 7009, section 2.1)', async () => {
      const token = await refreshToken();
      expect(outcomeOf(await ask({ token }, '/auth/revoke'))).toEqual([401, 'invalid_client']);
      expect(outcomeOf(await ask({ token, client_secret: 's' }, '/auth/revoke'))).toEqual([200, undefined]);
    });

    it('requires it for them even if the Client also has a public grant', async () => {
      const token = await refreshToken();
      await stored('/Client/kiosk', { ...KIOSK, grant_types: ['password', ...KIOSK.grant_types] });
      const refresh = { grant_type: 'refresh_token', refresh_token: token };
      const login = { grant_type: 'password', username: 'nurse', password: 'a long password' };
      expect(outcomeOf(await ask(login))).toEqual([200, undefined]);
      expect(outcomeOf(await ask(refresh))).toEqual([401, 'invalid_client']);
      expect(outcomeOf(await ask({ ...refresh, client_secret: 's' }))).toEqual([200, undefined]);
      await stored('/Client/kiosk', KIOSK);
    });
  });

  it('is refused to a Client that does not list it', async () => {
    const request = { client_secret: 's', grant_type: BADGE, pin: '1234' };
    expect(outcomeOf(await ask(request))).toEqual([400, 'unauthorized_client']);
    expect(outcomeOf(await ask({ ...request, client_id: 'reader', client_secret: '' }))).toEqual([200, undefined]);
  });

  describe('with its own parameters', () => {
    it('reads them only from the body', async () => {
      const { status, text } = await app.post(
        '/auth/token?pin=1234',
        { client_id: 'reader', grant_type: BADGE, pin: '1234' },
        { authorization: null },
      );
      expect([status, text]).toEqual([400, expect.stringContaining('in the body, not in the URL')]);
    });

    it('accepts only strings, and errors show only their names', async () => {
      const { status, text } = await ask({ client_id: 'reader', grant_type: BADGE, pin: 1234 });
      expect([status, text]).toEqual([400, expect.stringContaining('pin must be a string')]);
      expect(text).not.toContain('1234');
    });
  });

  describe('in Client.auth', () => {
    const settings = { refresh_token: true, token_expiration: 60, token_format: 'jwt', secret_required: true };

    it('has settings under its grant type', async () => {
      await stored('/Client/tuned', { grant_types: [BADGE], secret: 's', auth: { [BADGE]: settings } });
      const request = { client_id: 'tuned', grant_type: BADGE, pin: '1234' };
      expect(outcomeOf(await ask(request))).toEqual([401, 'invalid_client']);
      const { expires_in, refresh_token: refresh } = (await ask({ ...request, client_secret: 's' })).json<{
        expires_in: number;
        refresh_token?: string;
      }>();
      expect([expires_in, refresh]).toEqual([60, expect.any(String)]);
    });

    it.each<[string, object, string]>([
      ['settings of another grant', { 'urn:acme:bagde': settings }, 'Did you mean \\"urn:acme:badge\\"'],
      ['settings of a grant that has none', { refresh_token: settings }, 'Known are password, '],
      ['an unknown setting', { [BADGE]: { refresh_tokens: true } }, 'Did you mean \\"refresh_token\\"'],
      ['a setting of another type', { [BADGE]: { refresh_token: 'yes' } }, 'must be true or false'],
      ['settings that are not an object', { [BADGE]: true }, 'must be an object'],
    ])('refuses %s', async (_case, auth, text) => {
      const answer = await app.put('/Client/odd', { auth });
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(text)]);
    });

    it('is in the OpenAPI description of the token endpoint', async () => {
      const { paths } = (await app.get('/api-json')).json<{ paths: Record<string, { post: object }> }>();
      const [grantTypes] = /"enum":\[[^\]]*password[^\]]*\]/.exec(JSON.stringify(paths['/auth/token']?.post)) ?? [];
      expect(JSON.parse(`{${grantTypes ?? ''}}`)).toEqual({
        enum: expect.arrayContaining(['password', 'client_credentials', 'refresh_token', EXCHANGE, BADGE]),
      });
    });
  });

  // This block must be the last one: its wrong PINs make the server refuse further logins of the account for some time.
  describe('with a credential that can be guessed', () => {
    const logIn = async (pin: string): Promise<unknown[]> =>
      outcomeOf(await ask({ client_id: 'reader', grant_type: BADGE, pin }));

    it('counts wrong credentials, whatever the error message, and no other errors', async () => {
      for (const pin of ['lost', 'lost', 'lost', '0001', '0002'])
        expect(await logIn(pin)).toEqual([400, 'invalid_grant']);
      expect(await logIn('1234')).toEqual([429, 'slow_down']);
    });
  });
});
