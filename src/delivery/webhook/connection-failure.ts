import { AxiosError } from 'axios';
import { systemCodeOf } from '../../platform/errors/system-error';
import { DeliveryFailure } from '../delivery-failure';

/** Messages by the error code of Node. A code discloses nothing of the URL, the headers or the response. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'Connection refused'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'The connection was closed before an answer came'],
  [/^ENOTFOUND$/, 'The host name of the endpoint is not known'],
  [/^EAI_AGAIN$/, 'The host name of the endpoint could not be looked up'],
  [/^(EHOST|ENET)UNREACH$/, 'The host of the endpoint cannot be reached'],
  [/^ETIMEDOUT$/, 'The connection to the endpoint timed out'],
  [/^EPROTO$/, 'TLS could not be set up with the endpoint'],
  [/^CERT_HAS_EXPIRED$/, 'The TLS certificate of the endpoint has expired'],
  [/SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF|GET_ISSUER)/, 'The TLS certificate of the endpoint is not trusted'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'The TLS certificate of the endpoint is for another host'],
  [/^HPE_/, 'The answer is not HTTP'],
];

/** Returns the failure, with the message for `$status`, of an attempt that got no response. */
export function connectionFailureOf(error: unknown): DeliveryFailure {
  const cause = error instanceof AxiosError ? (error.cause ?? error) : error;
  if (cause instanceof DeliveryFailure) return cause;
  const code = codeOf(cause) ?? codeOf(error);
  if (code === undefined) return new DeliveryFailure('The request failed');
  return new DeliveryFailure(MESSAGES.find(([codes]) => codes.test(code))?.[1] ?? `The connection failed (${code})`);
}

/** Returns the error code. If several addresses were tried, it is the code of the first error. */
const codeOf = (error: unknown): string | undefined =>
  systemCodeOf(error) ?? (error instanceof AggregateError ? systemCodeOf(error.errors[0]) : undefined);
