import { type Resource } from '../fhir/types';

/** The members of a Client that the server reads (interface, "Client"). */
export interface Client {
  readonly id: string;
  readonly isActive: boolean;
  readonly grantTypes: readonly string[];
  readonly password: PasswordGrantSettings;
}

export interface PasswordGrantSettings {
  readonly isJwt: boolean;
  readonly tokenLifetimeSeconds: number;
  readonly issuesRefreshToken: boolean;
  readonly refreshTokenLifetimeSeconds?: number;
  readonly requiresSecret: boolean;
}

const DEFAULT_TOKEN_LIFETIME_SECONDS = 3600;

interface ClientBody extends Resource {
  readonly active?: boolean;
  readonly grant_types?: readonly string[];
  readonly auth?: {
    readonly password?: {
      readonly token_format?: 'jwt';
      readonly token_expiration?: number;
      /** Alias of `token_expiration`, which wins when both stand. */
      readonly access_token_expiration?: number;
      readonly refresh_token?: boolean;
      readonly refresh_token_expiration?: number;
      readonly secret_required?: boolean;
    };
  };
}

/** Reads a stored Client, which its rule has checked. */
export function clientOf(text: string): Client {
  const { id = '', active, grant_types: grantTypes = [], auth } = JSON.parse(text) as ClientBody;
  const settings = auth?.password ?? {};
  const refreshLifetime = settings.refresh_token_expiration;
  return {
    id,
    isActive: active !== false,
    grantTypes,
    password: {
      isJwt: settings.token_format === 'jwt',
      tokenLifetimeSeconds:
        settings.token_expiration ?? settings.access_token_expiration ?? DEFAULT_TOKEN_LIFETIME_SECONDS,
      issuesRefreshToken: settings.refresh_token ?? false,
      ...(refreshLifetime === undefined ? {} : { refreshTokenLifetimeSeconds: refreshLifetime }),
      requiresSecret: settings.secret_required ?? false,
    },
  };
}
