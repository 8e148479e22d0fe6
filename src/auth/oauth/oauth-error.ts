import { type ErrorCode } from '../../platform/errors/error-codes';

/** Error codes of RFC 6749, section 5.2, and `invalid_target` of RFC 8707, section 2, for a forbidden audience. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target';

const CATALOGED: Readonly<Record<OAuthErrorCode, ErrorCode>> = {
  invalid_request: 'oauth-invalid-request',
  invalid_client: 'oauth-invalid-client',
  invalid_grant: 'oauth-invalid-grant',
  unauthorized_client: 'oauth-unauthorized-client',
  unsupported_grant_type: 'oauth-unsupported-grant-type',
  invalid_scope: 'oauth-invalid-scope',
  invalid_target: 'oauth-invalid-target',
};

/**
 * A refusal of an OAuth endpoint. The caller gets `description`. Only the log has `operatorDetail`, so that a caller
 * cannot distinguish an unknown user from a wrong password. Neither text contains a secret or a user name.
 * @example
 * throw new OAuthError('invalid_grant', 'subject_token is no live token of a User');
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';

  constructor(
    readonly code: OAuthErrorCode,
    readonly description: string,
    readonly operatorDetail = description,
    /** Id of the Client, if that Client is stored. */
    readonly clientId?: string,
    /** The code of the cause in docs/reference/errors.md. */
    readonly cataloged: ErrorCode = CATALOGED[code],
    /** Whether the wrong credential could be guessed, such as a password. CredentialGuard counts such errors. */
    readonly isWrongGuess = false,
  ) {
    super(description);
  }

  /** An `invalid_grant` for a wrong password, PIN or code. */
  static wrongGuess(
    description: string,
    operatorDetail?: string,
    cataloged: ErrorCode = CATALOGED.invalid_grant,
  ): OAuthError {
    return new OAuthError('invalid_grant', description, operatorDetail, undefined, cataloged, true);
  }

  /** The HTTP status: 401 for a failed client authentication, else 400 (RFC 6749, section 5.2). */
  get status(): number {
    return this.code === 'invalid_client' ? 401 : 400;
  }
}

/** An `invalid_grant` whose cause has a separate entry in docs/reference/errors.md. */
export const invalidGrant = (cataloged: ErrorCode, description: string, operatorDetail?: string): OAuthError =>
  new OAuthError('invalid_grant', description, operatorDetail, undefined, cataloged);

/** The same error for an unknown user and for a wrong password: callers must not learn which names exist. */
export const wrongCredentials = (operatorDetail?: string): OAuthError =>
  OAuthError.wrongGuess('Wrong username or password', operatorDetail, 'credentials-wrong');
