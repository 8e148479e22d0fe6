import { type Request } from 'express';
import { versionsOf } from '../entity-tags';
import { type WriteConditions } from '../writes/write';

/**
 * Reads `If-Match` and `If-None-Match` of a write.
 * @throws ServiceError 'invalid' for what is no list of versions
 */
export function preconditionsOf({ headers }: Request): Pick<WriteConditions, 'ifMatch' | 'ifNoneMatch'> {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return {
    ...(ifMatch === undefined ? {} : { ifMatch: versionsOf(ifMatch, 'If-Match') }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: versionsOf(ifNoneMatch, 'If-None-Match') }),
  };
}
