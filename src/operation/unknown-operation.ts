import { nearestCode } from '../platform/text/nearest-code';
import { ServiceError } from '../platform/errors/service-error';
import { UNSERVED_PAGE } from '../fhir/edge/format';
import { type OperationDefinition } from './operation';
import { UNSERVED_OPERATIONS } from './unserved-operations';

/** Returns the error for an unknown operation: the paths at which its code exists, what to do, or a similar code. */
export function unknownOperation(code: string, known: readonly { readonly meta: OperationDefinition }[]): ServiceError {
  const definitions = known.map(({ meta }) => meta);
  return new ServiceError('operation-unknown', messageFor(code, definitions));
}

function messageFor(code: string, known: readonly OperationDefinition[]): string {
  const shown = `$${code.slice(0, 64)}`;
  const paths = known.filter((definition) => definition.code === code).map(pathOf);
  if (paths.length > 0) return `No such operation here: ${shown} is called at ${paths.join(', ')}`;
  const instead = UNSERVED_OPERATIONS.get(code);
  if (instead !== undefined) return `${shown} is not served. ${instead} More: ${UNSERVED_PAGE}`;
  const near = nearestCode(code, new Set(known.map((definition) => definition.code)));
  return `No such operation: ${shown}${near === undefined ? '' : `. Did you mean $${near}?`}`;
}

function pathOf({ level, resourceType = '', code }: OperationDefinition): string {
  if (level === 'system') return `/$${code}`;
  return level === 'type' ? `/${resourceType}/$${code}` : `/${resourceType}/{id}/$${code}`;
}
