import { ResourceDraft } from './resource-draft';
import { type StoredResource } from './stored-resource';

/**
 * The parsed content of a resource, by a type of `@types/fhir` or of your own. Nothing checks the content against that
 * type: the server has validated it when it was written. Numbers are doubles here, so write and compare the text.
 * @throws TypeError when the resource is of another type
 * @example
 * const { birthDate } = viewOf<Patient>(await reader.read('Patient', 'p7'), 'Patient'); // Patient of 'fhir/r4'
 */
export function viewOf<T extends { readonly resourceType: string }>(
  resource: StoredResource | ResourceDraft,
  type: T['resourceType'],
): T {
  if (resource.type !== type) throw new TypeError(`This is a resource of type ${resource.type}, not ${type}`);
  const content: unknown = resource instanceof ResourceDraft ? resource.value : JSON.parse(resource.text);
  return content as T;
}
