const SECRET_NAMES =
  /pass(?:word|wd|phrase)|secret|token|authorization|api[-_]?key|credential|assertion|signature|totp|\bpin\b/i;

/** A query as it was sent, with the values masked that no record may keep. */
export function withoutSecrets(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals !== -1 && SECRET_NAMES.test(decoded(part.slice(0, equals))) ? `${part.slice(0, equals)}=***` : part;
    })
    .join('&');
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replace(/\+/g, ' '));
  } catch {
    return name;
  }
}
