/** Error codes of RFC 6749, section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

/** One text for an unknown user and a wrong password: callers must not learn which names exist. */
export const WRONG_CREDENTIALS = 'Wrong username or password';

/** Whether a refusal says that the credentials are wrong, and not something else about a request with right ones. */
export const isWrongCredentials = (error: unknown): boolean =>
  error instanceof OAuthError && error.code === 'invalid_grant' && error.description === WRONG_CREDENTIALS;

/**
 * A refusal of the token endpoint for two readers: `description` goes to the caller, `operatorDetail` to the log alone,
 * so that a caller cannot tell an unknown user from a wrong password.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';

  constructor(
    readonly code: OAuthErrorCode,
    readonly description: string,
    readonly operatorDetail = description,
  ) {
    super(description);
  }

  /** 401 for a failed client authentication, else 400 (RFC 6749, section 5.2). */
  get status(): number {
    return this.code === 'invalid_client' ? 401 : 400;
  }
}
