import { ServiceError } from '../../platform/errors/service-error';

/**
 * Reads `ifMatch` or `ifNoneMatch` of an entry as the header of that name: `W/"2"`, `"2"`, a bare `2`, a list, or `*`.
 * @throws ServiceError 'invalid' for anything else.
 */
export function versionsOf(text: string, expression: string): readonly number[] | '*' {
  const tags = text.trim();
  if (tags === '*') return '*';
  return tags.split(',').map((tag) => {
    const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(tag.trim())?.[1];
    if (version === undefined) {
      throw new ServiceError('invalid', `${expression} must hold a version such as W/"2".`, { expression });
    }
    return Number(version);
  });
}
