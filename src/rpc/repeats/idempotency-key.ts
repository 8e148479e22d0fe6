import { ServiceError } from '../../platform/errors/service-error';

const MAX_LENGTH = 255;

/** A quoted key: a string of RFC 8941, section 3.3.3. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;
/** A key without quotes. It is accepted too, since many clients omit the quotes. */
const BARE = /^[\w.~:+/=-]+$/;

/**
 * Reads the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a string of RFC 8941, with or without
 * its quotes.
 * @throws ServiceError 'invalid'
 */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, quoted] = QUOTED.exec(header) ?? [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? (BARE.test(header) ? header : '');
  if (key !== '' && key.length <= MAX_LENGTH) return key;
  const message = `Idempotency-Key must be a string of 1 to ${MAX_LENGTH} printable ASCII characters, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".`;
  throw new ServiceError('header-invalid', message);
}
