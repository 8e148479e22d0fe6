import { type Resource } from '../../fhir/types';
import { mayAct } from '../../resource/may-act';

/** The members of a Client that the server reads (interface specification, "Client"). */
export interface Client {
  readonly id: string;
  readonly isActive: boolean;
  readonly grantTypes: readonly string[];
  /** Scope tokens that the Client may request. */
  readonly scopes: readonly string[];
  /** Settings of each grant, by the grant's key in `Client.auth` ({@link settingsKeyOf}). */
  readonly grants: Readonly<Record<string, GrantSettings>>;
}

export interface GrantSettings {
  readonly isJwt: boolean;
  readonly tokenLifetimeSeconds: number;
  readonly issuesRefreshToken: boolean;
  readonly refreshTokenLifetimeSeconds?: number;
  readonly requiresSecret: boolean;
  /**
   * Audiences that a token of this grant may have. A token has all of them if its request names none. When the list is
   * empty, the audience is this server.
   */
  readonly audience: readonly string[];
}

const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600;

interface GrantBody {
  readonly token_format?: 'jwt';
  readonly token_expiration?: number;
  /** Another name of `token_expiration`. When both are present, `token_expiration` is used. */
  readonly access_token_expiration?: number;
  readonly refresh_token?: boolean;
  readonly refresh_token_expiration?: number;
  readonly secret_required?: boolean;
  readonly audience?: readonly string[];
}

interface ClientBody extends Resource {
  readonly grant_types?: readonly string[];
  readonly scope?: readonly string[];
  readonly auth?: Readonly<Record<string, GrantBody>>;
}

/** Parses a stored Client. ClientRule validated it when it was stored. */
export function clientOf(text: string): Client {
  const body = JSON.parse(text) as ClientBody;
  const { id = '', grant_types: grantTypes = [], scope = [], auth = {} } = body;
  const grants = Object.entries(auth).map(([key, settings]) => [key, settingsFrom(settings)] as const);
  return { id, isActive: mayAct('Client', body), grantTypes, scopes: scope, grants: Object.fromEntries(grants) };
}

/** Returns the settings of a grant; the defaults if the Client has no settings for this grant. */
export function settingsOf({ grants }: Client, grantType: string): GrantSettings {
  return grants[settingsKeyOf(grantType)] ?? NO_SETTINGS;
}

/**
 * Returns the key of a grant's settings in `Client.auth`. The key is the grant type. For a URN of the IETF, it is the
 * last part with underscores: `urn:ietf:params:oauth:grant-type:token-exchange` has the key `token_exchange`.
 */
export const settingsKeyOf = (grantType: string): string =>
  grantType.replace(/^urn:ietf:params:oauth:grant-type:(.+)$/, (_all, name: string) => name.replaceAll('-', '_'));

function settingsFrom(body: GrantBody): GrantSettings {
  const refreshLifetime = body.refresh_token_expiration;
  return {
    isJwt: body.token_format === 'jwt',
    tokenLifetimeSeconds: body.token_expiration ?? body.access_token_expiration ?? DEFAULT_TOKEN_LIFETIME_SECONDS,
    issuesRefreshToken: body.refresh_token ?? false,
    ...(refreshLifetime === undefined ? {} : { refreshTokenLifetimeSeconds: refreshLifetime }),
    requiresSecret: body.secret_required ?? false,
    audience: body.audience ?? [],
  };
}

const NO_SETTINGS = settingsFrom({});
