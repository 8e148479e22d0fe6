import { isDeepStrictEqual } from 'node:util';
import {
  definitionOfId,
  definitionOfUrl,
  resourceIdOf,
  searchParameterResource,
} from '../../fhir/definitions/search-parameter-resources';
import { type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';

const ADVICE = 'To search in another way, store a SearchParameter of your own under another id, url and code.';

/** Whether a SearchParameter is the stored copy of a definition of HL7, by id and url. */
export function isBuiltIn({ id, url }: Resource): boolean {
  const definition = definitionOfUrl(url);
  return definition !== undefined && resourceIdOf(definition) === id;
}

/**
 * Checks that HL7's definitions are written unchanged, and that no other resource uses their ids and urls.
 * @returns whether the resource is one of these definitions
 * @throws ServiceError 'unprocessable' if it changes one, or takes the id or the url of one
 */
export function assertAsBuiltIn(value: Resource): boolean {
  const ofUrl = definitionOfUrl(value.url);
  const ofId = definitionOfId(value.id);
  const definition = ofId ?? ofUrl;
  if (definition === undefined) return false;
  const { meta: _meta, ...content } = value;
  if (isDeepStrictEqual(content, searchParameterResource(definition))) return true;
  const place = `SearchParameter/${resourceIdOf(definition)}`;
  const member = ofUrl === undefined ? 'id' : 'url';
  throw new ServiceError(
    'search-parameter-invalid',
    `SearchParameter.${member} is that of ${place}, a definition of HL7 that is built in and never changes. ${ADVICE}`,
    { expression: `SearchParameter.${member}` },
  );
}

export const notDeletable = ({ id }: Resource): ServiceError =>
  new ServiceError(
    'definition-built-in',
    `SearchParameter/${id} is a definition of HL7 that is built in, so it cannot be deleted. ${ADVICE}`,
    { allow: ['GET', 'HEAD'] },
  );
