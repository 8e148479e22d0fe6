import { type ErrorCode, errorPageOf } from '../errors/error-codes';

/** Returns the header `Link` to the explanation of an error (RFC 8288; `help` is a registered relation). */
export const helpLink = (baseUrl: string, code: ErrorCode): { readonly Link: string } => ({
  Link: `<${errorPageOf(baseUrl, code)}>; rel="help"`,
});
