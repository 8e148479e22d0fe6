/** An error that says which server did not answer, and which settings name another one. */
export const noAnswerError = (baseUrl: string, error: unknown): Error =>
  new Error(`No server answers at ${baseUrl} (${reasonOfError(error)}): start it, or set BASE_URL or PORT.`, {
    cause: error,
  });

/** The connection error, which fetch() wraps. */
export const connectionErrorOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

export function reasonOfError(error: unknown): string {
  const cause = connectionErrorOf(error);
  if (!(cause instanceof Error)) return String(cause);
  // For a host name with several addresses, the error has a code but no message.
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
