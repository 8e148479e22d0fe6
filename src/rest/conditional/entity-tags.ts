import { type ErrorDetails, ServiceError } from '../../platform/errors/service-error';
import { type WriteConditions } from '../../resource/writes/write';

type Preconditions = Pick<WriteConditions, 'ifMatch' | 'ifNoneMatch'>;

/** The names of the preconditions in error messages: headers of a request, or members of a Bundle's entry. */
export const HEADER_TAGS = { ifMatch: 'If-Match', ifNoneMatch: 'If-None-Match' };
export const ENTRY_TAGS = { ifMatch: 'request.ifMatch', ifNoneMatch: 'request.ifNoneMatch' };

/**
 * Reads the preconditions of a write.
 * @throws ServiceError 'invalid' for a malformed list of versions; for an entry, with the expression of the member
 */
export function preconditionsOf(
  sent: { readonly [Tag in keyof Preconditions]?: string | undefined },
  names: typeof HEADER_TAGS,
): Preconditions {
  const read = (tag: keyof Preconditions): Preconditions => {
    const [text, name] = [sent[tag], names[tag]];
    const details = names === ENTRY_TAGS ? { expression: name } : {};
    return text === undefined ? {} : { [tag]: versionsOf(text, name, details) };
  };
  return { ...read('ifMatch'), ...read('ifNoneMatch') };
}

/**
 * Reads `If-Match` or `If-None-Match` (RFC 9110, sections 13.1.1 and 13.1.2): `W/"2"`, `"2"`, `2` without quotes, a
 * list of these, or `*`. Any other quoted tag becomes version 0, which no resource has.
 */
function versionsOf(text: string, name: string, details: ErrorDetails): readonly number[] | '*' {
  const tags = text.trim();
  if (tags === '*') return '*';
  return tags.split(',').map((tag) => {
    const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(tag.trim())?.[1];
    if (version === undefined && /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(tag.trim())) return 0;
    if (version === undefined)
      throw new ServiceError('header-invalid', `${name} must hold a version such as W/"2".`, details);
    return Number(version);
  });
}
