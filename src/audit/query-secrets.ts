const SECRET_NAMES =
  /pass(?:word|wd|phrase)|secret|token|authorization|api[-_]?key|credential|assertion|signature|totp|\bpin\b/i;

/** Returns a query as sent, with its secrets masked. */
export function withoutSecrets(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=');
      const [name, value] = [part.slice(0, equals), part.slice(equals + 1)];
      return equals !== -1 && isSecret(decoded(name), decoded(value)) ? `${name}=***` : part;
    })
    .join('&');
}

/**
 * Whether a parameter may contain a secret. In `$test` and `$replay`, the URL in `endpoint` may have a query with a
 * key. In a search, `endpoint` is a reference, which has no query.
 */
const isSecret = (name: string, value: string): boolean =>
  SECRET_NAMES.test(name) || (name === 'endpoint' && value.includes('?'));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return text;
  }
}
