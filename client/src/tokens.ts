import { SvcError } from './errors.js';
import type { Fetch } from './types.js';

/** The credentials of a login: a Client of the server, and the User who logs in with it. */
export interface Login {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly username: string;
  readonly password: string;
  /** One-time code, for a User with a second factor. */
  readonly totp?: string;
}

interface TokenAnswer {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
}

/** A token is renewed this long before it expires, since clocks differ and a request takes some time. */
const EARLY_MILLISECONDS = 30_000;

/**
 * The tokens of one login. Calls that find the token expired at the same time wait for one refresh, since each refresh
 * token works only once.
 */
export class Tokens {
  private expiresAt = 0;
  private renewal: Promise<boolean> | undefined;

  private constructor(
    private readonly url: string,
    private readonly client: Readonly<Record<string, string>>,
    private readonly fetch: Fetch,
    private current: TokenAnswer,
  ) {
    this.keep(current);
  }

  /**
   * Logs in.
   * @throws SvcError 400 for a wrong name or password, 429 after too many wrong logins
   */
  static async login(
    baseUrl: string,
    { clientId, clientSecret, username, password, totp }: Login,
    fetch: Fetch,
  ): Promise<Tokens> {
    const url = `${baseUrl}/auth/token`;
    const client = { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
    const answer = await requestToken(fetch, url, {
      grant_type: 'password',
      ...client,
      ...{ username, password, ...(totp === undefined ? {} : { totp }) },
    });
    return new Tokens(url, client, fetch, answer);
  }

  get accessToken(): string {
    return this.current.access_token;
  }

  /** The value of `Authorization`, with a token that has not expired. */
  async authorization(): Promise<string> {
    const { refresh_token: refreshToken, expires_in: lifetime } = this.current;
    const early = Math.min(EARLY_MILLISECONDS, lifetime * 500);
    if (refreshToken !== undefined && Date.now() > this.expiresAt - early) await this.renew(this.accessToken);
    return `Bearer ${this.accessToken}`;
  }

  /**
   * Replaces the token `refused`, which the server refused with 401. Returns whether there is another token to send.
   */
  async replace(refused: string): Promise<boolean> {
    if (this.current.refresh_token === undefined && this.accessToken === refused) return false;
    return this.renew(refused);
  }

  private renew(old: string): Promise<boolean> {
    if (this.accessToken !== old) return Promise.resolve(true);
    this.renewal ??= this.refresh().finally(() => {
      this.renewal = undefined;
    });
    return this.renewal;
  }

  /**
   * Refreshes the tokens. Returns false if the Session has ended. The call then fails with its own 401, which says more
   * than the refusal of the refresh token.
   */
  private async refresh(): Promise<boolean> {
    const { refresh_token: refreshToken = '' } = this.current;
    const body = { grant_type: 'refresh_token', ...this.client, refresh_token: refreshToken };
    try {
      this.keep(await requestToken(this.fetch, this.url, body));
      return true;
    } catch (error) {
      if (error instanceof SvcError && error.status === 400) return false;
      throw error;
    }
  }

  private keep(answer: TokenAnswer): void {
    this.current = answer;
    this.expiresAt = Date.now() + answer.expires_in * 1000;
  }
}

async function requestToken(fetch: Fetch, url: string, body: Readonly<Record<string, string>>): Promise<TokenAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await SvcError.of(response);
  return (await response.json()) as TokenAnswer;
}
