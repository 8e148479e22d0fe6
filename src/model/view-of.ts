import { ResourceDraft } from './resource-draft';
import { type ResourceText } from './stored-resource';

/**
 * The parsed content of a resource, with a type of `@types/fhir` or of your own. The content is not checked against
 * that type; the server validated it when it was written. Numbers are doubles here, so write and compare the text of
 * the resource instead.
 * @throws TypeError when the resource is of another type
 * @example
 * const { birthDate } = viewOf<Patient>(await reader.read('Patient', 'p7'), 'Patient'); // Patient of 'fhir/r4'
 */
export function viewOf<T extends { readonly resourceType: string }>(
  resource: ResourceText | ResourceDraft,
  type: T['resourceType'],
): T {
  if (resource.type !== type) throw new TypeError(`This is a resource of type ${resource.type}, not ${type}`);
  const content: unknown = resource instanceof ResourceDraft ? resource.value : JSON.parse(resource.text);
  return content as T;
}
