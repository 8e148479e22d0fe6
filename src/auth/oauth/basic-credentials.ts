export interface BasicCredentials {
  readonly id: string;
  /**
   * Candidates for the secret; empty when none was sent. Form-encoding before base64 (RFC 6749, section 2.3.1) is often
   * left out, and the interface names none ("Token issuance"): so the text as sent, and decoded where that differs.
   */
  readonly secrets: readonly string[];
}

/** Reads `Basic` credentials (RFC 7617); undefined for anything else. */
export function basicCredentialsOf(authorization: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = textOf(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  const id = formDecoded(text.slice(0, colon));
  const secret = text.slice(colon + 1);
  const secrets = [...new Set([secret, formDecoded(secret)])].filter((reading) => reading !== '');
  // No id or secret holds a NUL, and PostgreSQL takes none.
  return [id, ...secrets].some((part) => part.includes('\0')) ? undefined : { id, secrets };
}

/** UTF-8, else ISO 8859-1: RFC 7617 names no encoding, and the `btoa` of browsers knows only the latter. */
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
