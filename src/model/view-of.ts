import { type Resource } from '../fhir/types';
import { type ResourceText } from './stored-resource';

/**
 * The parsed content of a resource, of a draft, or of a version in a change, with a type of `@types/fhir` or of your
 * own. The content is not checked against that type; the server validated it when it was written. Numbers are doubles
 * here, so write and compare the text of the resource instead.
 * @throws TypeError when the resource is of another type
 * @example
 * const { birthDate } = viewOf<Patient>(await reader.read('Patient', 'p7'), 'Patient'); // Patient of 'fhir/r4'
 */
export function viewOf<T extends { readonly resourceType: string }>(
  resource: ResourceText | { readonly value: Resource },
  type: T['resourceType'],
): T {
  const content: T | Resource = 'value' in resource ? resource.value : (JSON.parse(resource.text) as T);
  if (content.resourceType !== type)
    throw new TypeError(`This is a resource of type ${content.resourceType}, not ${type}`);
  return content as T;
}
