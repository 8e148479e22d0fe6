import { ServiceError } from '../platform/errors/service-error';

/**
 * Reads what `If-Match` or `If-None-Match` hold (RFC 9110, sections 13.1.1 and 13.1.2): `W/"2"`, `"2"`, a bare `2`, a list of
 * these, or `*`. Any other tag in quotes stands for version 0, which nothing has.
 * @param name what holds them, for the refusal
 * @throws ServiceError 'invalid' for anything else, at `expression` where it stands in a body
 */
export function versionsOf(text: string, name: string, expression?: string): readonly number[] | '*' {
  const tags = text.trim();
  if (tags === '*') return '*';
  return tags.split(',').map((tag) => {
    const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(tag.trim())?.[1];
    // A tag of another server, or of nothing: no version ever has it.
    if (version === undefined && /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(tag.trim())) return 0;
    if (version === undefined) {
      const details = expression === undefined ? {} : { expression };
      throw new ServiceError('invalid', `${name} must hold a version such as W/"2".`, details);
    }
    return Number(version);
  });
}
