/** Whether a text is a scope token. RFC 6749, section 3.3: printable ASCII without space, `"` and `\`. */
export const isScopeToken = (text: string): boolean => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(text);

/**
 * Returns the requested scope if all of it is allowed.
 * @param requested the scope tokens as sent, separated by single spaces; undefined when no scope was requested
 * @param allowed the scope tokens that may be granted
 * @returns the distinct scope tokens, separated by spaces; undefined when no scope was requested; null for a malformed
 * or forbidden scope
 */
export function grantedScope(requested: string | undefined, allowed: readonly string[]): string | undefined | null {
  if (requested === undefined) return undefined;
  const tokens = requested.split(' ');
  const mayBeHad = tokens.every((token) => isScopeToken(token) && allowed.includes(token));
  return mayBeHad ? [...new Set(tokens)].join(' ') : null;
}
