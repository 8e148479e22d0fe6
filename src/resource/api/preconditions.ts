import { type Request } from 'express';
import { ServiceError } from '../../platform/errors/service-error';
import { type WriteOptions } from '../resource-writer';

/**
 * Reads `If-Match` and `If-None-Match` of a write (RFC 9110, sections 13.1.1 and 13.1.2): `W/"2"`, `"2"`, a bare `2`, a list
 * of these, or `*`.
 * @throws ServiceError 'invalid' for anything else.
 */
export function preconditionsOf({ headers }: Request): Pick<WriteOptions, 'ifMatch' | 'ifNoneMatch'> {
  const ifMatch = versionsOf('If-Match', headers['if-match']);
  const ifNoneMatch = versionsOf('If-None-Match', headers['if-none-match']);
  return { ...(ifMatch === undefined ? {} : { ifMatch }), ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }) };
}

function versionsOf(name: string, header: string | undefined): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  return header.trim() === '*' ? '*' : header.split(',').map((tag) => versionOf(name, tag.trim()));
}

function versionOf(name: string, tag: string): number {
  const version = /^(?:W\/)?"?(\d{1,9})"?$/.exec(tag)?.[1];
  if (version === undefined) throw new ServiceError('invalid', `${name} must hold a version such as W/"2".`);
  return Number(version);
}
