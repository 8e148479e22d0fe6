export interface BasicCredentials {
  readonly id: string;
  /**
   * The texts that the secret may be; empty when no secret was sent. RFC 6749, section 2.3.1 form-encodes the secret,
   * but many clients do not. The interface specification ("Token issuance") names no encoding. So the list has the text
   * as sent, and also its decoded form if that differs.
   */
  readonly secrets: readonly string[];
}

/** Parses an Authorization header with `Basic` credentials (RFC 7617). Returns undefined for any other header. */
export function basicCredentialsOf(authorization: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = textOf(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  const id = formDecoded(text.slice(0, colon));
  const secret = text.slice(colon + 1);
  const secrets = [...new Set([secret, formDecoded(secret)])].filter((reading) => reading !== '');
  // No valid id or secret contains a NUL character, and a text of PostgreSQL cannot hold one.
  return [id, ...secrets].some((part) => part.includes('\0')) ? undefined : { id, secrets };
}

/** Decodes UTF-8, else ISO 8859-1: RFC 7617 names no encoding, and `btoa` of browsers supports only ISO 8859-1. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

function formDecoded(part: string): string {
  try {
    return decodeURIComponent(part.replace(/\+/g, ' '));
  } catch {
    return part;
  }
}
