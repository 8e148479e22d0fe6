/** RFC 6749, section 3.3: printable ASCII without space, `"` and `\`. */
export const isScopeToken = (text: string): boolean => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(text);

/**
 * The granted scope: the requested one when all of it may be granted, or else nothing.
 * @param requested as sent, tokens separated by a space; undefined when none was asked for
 * @param allowed the tokens that may be had
 * @returns the tokens without repetitions, separated by spaces; null for a scope that is malformed or not to be had
 */
export function grantedScope(requested: string | undefined, allowed: readonly string[]): string | undefined | null {
  if (requested === undefined) return undefined;
  const tokens = requested.split(' ');
  const mayBeHad = tokens.every((token) => isScopeToken(token) && allowed.includes(token));
  return mayBeHad ? [...new Set(tokens)].join(' ') : null;
}
