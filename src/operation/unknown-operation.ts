import { nearestCode } from '../platform/text/nearest-code';
import { ServiceError } from '../platform/errors/service-error';
import { UNSERVED_PAGE } from '../fhir/edge/format';
import { type OperationDefinition } from './operation';

/**
 * Operations of HL7 that this server does not have although callers may expect them, with what to do instead.
 * docs/reference/open-points.md has the same list; a spec compares the two.
 */
export const UNSERVED_OPERATIONS: ReadonlyMap<string, string> = new Map([
  ['expand', 'Store the ValueSet with its expansion; :in searches by it.'],
  ['lookup', 'Ask a terminology server.'],
  ['validate-code', 'Ask a terminology server. Required bindings of R4 are checked at each write.'],
  ['subsumes', 'Ask a terminology server.'],
  ['translate', 'Read the stored ConceptMap, or ask a terminology server.'],
  ['closure', 'Ask a terminology server.'],
  ['export', 'Page through GET /{type}/_history?_txid=0, or $everything as NDJSON for one patient.'],
  ['import', 'Send Bundles or NDJSON with the tool load.'],
  ['lastn', 'Search with code, _sort=-date and _count, once for each code.'],
  ['stats', 'Search, and compute on what is returned.'],
  ['match', 'Search by identifier, or by name with _ilike and birthdate.'],
  ['graphql', 'Search with _include and _elements.'],
  ['document', 'Search the Composition with _include.'],
  ['convert', 'Read with _format=json or _format=yaml.'],
  ['meta', 'Read the resource: it contains meta.'],
  ['meta-add', 'Send a PATCH of meta.tag, meta.security or meta.profile.'],
  ['meta-delete', 'Send a PATCH of meta.tag, meta.security or meta.profile.'],
  ['populate', 'Fill the QuestionnaireResponse in the client.'],
  ['apply', 'Make the resources of a PlanDefinition in the client.'],
  ['process-message', 'Send a transaction Bundle.'],
]);

/** Returns the error for an unknown operation: the paths at which its code exists, what to do, or a similar code. */
export const unknownOperation = (code: string, known: readonly OperationDefinition[]): ServiceError =>
  new ServiceError('operation-unknown', messageFor(code, known));

function messageFor(code: string, known: readonly OperationDefinition[]): string {
  const shown = `$${code.slice(0, 64)}`;
  const paths = known.filter((definition) => definition.code === code).map(pathOf);
  if (paths.length > 0) return `No such operation here: ${shown} is called at ${paths.join(', ')}`;
  const instead = UNSERVED_OPERATIONS.get(code);
  if (instead !== undefined) return `${shown} is not served. ${instead} More: ${UNSERVED_PAGE}`;
  const near = nearestCode(code, new Set(known.map((definition) => definition.code)));
  return `No such operation: ${shown}${near === undefined ? '' : `. Did you mean $${near}?`}`;
}

export function pathOf({ level, resourceType = '', code }: OperationDefinition): string {
  if (level === 'system') return `/$${code}`;
  return level === 'type' ? `/${resourceType}/$${code}` : `/${resourceType}/{id}/$${code}`;
}
