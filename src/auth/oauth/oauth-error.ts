/** Error codes of RFC 6749, section 5.2, and of RFC 8707, section 2, for an audience that may not be asked for. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target';

/** One text for an unknown user and a wrong password: callers must not learn which names exist. */
export const WRONG_CREDENTIALS = 'Wrong username or password';

/** One text for every one-time code that does not hold, whatever the reason. */
export const WRONG_CODE = 'The one-time code is not valid';

/** Whether a refusal says that a password or a one-time code is wrong, and not something else about right ones. */
export const isWrongGuess = (error: unknown): boolean =>
  error instanceof OAuthError && [WRONG_CREDENTIALS, WRONG_CODE].includes(error.description);

/**
 * A refusal of an OAuth endpoint for two readers: `description` goes to the caller, `operatorDetail` to the log alone,
 * so that a caller cannot tell an unknown user from a wrong password. Neither holds a secret or a user name.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';

  constructor(
    readonly code: OAuthErrorCode,
    readonly description: string,
    readonly operatorDetail = description,
    /** The Client, when it is a stored one. */
    readonly clientId?: string,
  ) {
    super(description);
  }

  /** 401 for a failed client authentication, else 400 (RFC 6749, section 5.2). */
  get status(): number {
    return this.code === 'invalid_client' ? 401 : 400;
  }
}
