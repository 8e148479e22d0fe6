import { ServiceError } from '../errors/service-error';

/** Values of the header `x-max-isolation-level`; `read-committed` is the default of writes. */
export type IsolationLevel = 'read-committed' | 'repeatable-read' | 'serializable';

const LEVELS = ['serializable', 'repeatable-read', 'read-committed'] as const satisfies readonly IsolationLevel[];

/**
 * @throws ServiceError 'invalid' for anything except the name of one level
 * @throws ServiceError 'invalid' for anything that is no name of a level; lists of them too.
 */
export function parseIsolationLevel(text: string): IsolationLevel {
  const level = LEVELS.find((known) => known === text.trim().toLowerCase());
  if (level !== undefined) return level;
  throw new ServiceError('invalid', `x-max-isolation-level must be one of ${LEVELS.join(', ')}.`, {
    code: 'header-invalid',
  });
}
