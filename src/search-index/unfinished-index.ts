import { ServiceError } from '../platform/errors/service-error';
import { type SearchParameter } from './extract/search-parameter';
import { type SearchParameterSet } from './extract/search-parameter-set';

/** Where an answer may neither miss anything nor hold anything wrong, it has to wait for the index. */
export const unfinishedIndex = ({ type, code }: Pick<SearchParameter, 'type' | 'code'>): ServiceError =>
  new ServiceError('busy', `The index of ${type}.${code} is being built. Try again later.`, { retryAfterSeconds: 10 });

/** @throws ServiceError 'busy' while the index of a parameter is being built */
export function assertFinished(parameter: SearchParameter | undefined, parameters: SearchParameterSet): void {
  if (parameter !== undefined && parameters.isUnfinished(parameter)) throw unfinishedIndex(parameter);
}
