import { ServiceError } from '../errors/service-error';

/** Values of `x-max-isolation-level`; `read-committed` is the default of writes. */
export type IsolationLevel = 'read-committed' | 'repeatable-read' | 'serializable';

const LEVELS = ['serializable', 'repeatable-read', 'read-committed'] as const satisfies readonly IsolationLevel[];

/** @throws ServiceError 'invalid' for any text that is not the name of one level, also for a list of names */
export function parseIsolationLevel(text: string): IsolationLevel {
  const level = LEVELS.find((known) => known === text.trim().toLowerCase());
  if (level !== undefined) return level;
  throw new ServiceError('header-invalid', `x-max-isolation-level must be one of ${LEVELS.join(', ')}.`);
}
