export interface BasicCredentials {
  readonly id: string;
  /**
   * Candidates for the secret; empty when none was sent. Clients often skip the form-encoding of RFC 6749, section
   * 2.3.1, and the interface ("Token issuance") names none. So this holds the text as sent, and its decoded form if
   * different.
   */
  readonly secrets: readonly string[];
}

/** Parses `Basic` credentials (RFC 7617); undefined for anything else. */
export function basicCredentialsOf(authorization: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = textOf(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  const id = formDecoded(text.slice(0, colon));
  const secret = text.slice(colon + 1);
  const secrets = [...new Set([secret, formDecoded(secret)])].filter((reading) => reading !== '');
  // No id or secret contains a NUL, and PostgreSQL text cannot store one.
  return [id, ...secrets].some((part) => part.includes('\0')) ? undefined : { id, secrets };
}

/** Decodes UTF-8, else ISO 8859-1: RFC 7617 names no encoding, and `btoa` of browsers supports only the latter. */
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
