/** The content that a client requests for the answer to a write (http://hl7.org/fhir/R4/http.html#ops). */
export type PreferredReturn = 'minimal' | 'representation' | 'OperationOutcome';

const RETURNS: readonly PreferredReturn[] = ['minimal', 'representation', 'OperationOutcome'];

/** Reads `return` in a `Prefer` header (RFC 7240). The first occurrence counts; unknown values are ignored. */
export function preferredReturnOf(prefer: string | readonly string[] | undefined): PreferredReturn | undefined {
  if (prefer === undefined) return undefined;
  const text = typeof prefer === 'string' ? prefer : prefer.join(',');
  const value = /(?:^|[,;])\s*return\s*=\s*"?([\w-]+)"?\s*(?:$|[,;])/i.exec(text)?.[1];
  return RETURNS.find((known) => known.toLowerCase() === value?.toLowerCase());
}
