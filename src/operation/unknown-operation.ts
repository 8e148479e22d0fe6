import { nearestCode } from '../platform/text/nearest-code';
import { ServiceError } from '../platform/errors/service-error';
import { UNSERVED_PAGE } from '../fhir/edge/format';
import { type OperationDefinition } from './operation';
import { UNSERVED_OPERATIONS } from './unserved-operations';

/**
 * Returns the error for an unknown operation. It lists the paths at which an operation of this code exists; if there
 * are none, it names the most similar code.
 */
export function unknownOperation(code: string, known: readonly OperationDefinition[]): ServiceError {
  const shown = `$${code.slice(0, 64)}`;
  const paths = known.filter((definition) => definition.code === code).map(pathOf);
  if (paths.length > 0) {
    return new ServiceError('not-found', `No such operation here: ${shown} is called at ${paths.join(', ')}`, {
      code: 'operation-unknown',
    });
  }
  const instead = UNSERVED_OPERATIONS.get(code);
  if (instead !== undefined) {
    return new ServiceError('not-found', `${shown} is not served. ${instead} More: ${UNSERVED_PAGE}`, {
      code: 'operation-unknown',
    });
  }
  const codes = new Set(known.map((definition) => definition.code));
  const near = nearestCode(code, codes);
  const hint = near === undefined ? '' : `. Did you mean $${near}?`;
  return new ServiceError('not-found', `No such operation: ${shown}${hint}`, { code: 'operation-unknown' });
}

function pathOf({ level, resourceType = '', code }: OperationDefinition): string {
  if (level === 'system') return `/$${code}`;
  return level === 'type' ? `/${resourceType}/$${code}` : `/${resourceType}/{id}/$${code}`;
}
