import { type Request } from 'express';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { queryOf } from '../../platform/http/raw-request';
import { isLenient } from '../../platform/http/known-parameters';

/** Query parameters that control the request or its answer; all others are criteria. */
const OF_THE_REQUEST = ['_format', '_pretty', '_method', '_no-content'];

const BEYOND_ASCII = /[^\p{ASCII}]/u;

/** The criteria in the URL of a conditional write; an empty text if there are none. */
export function criteriaOf(request: Request): string {
  const query = queryOf(request);
  for (const name of OF_THE_REQUEST) query.delete(name);
  return query.toString();
}

/**
 * The criteria of a write without an id in its path.
 * @throws ServiceError 'invalid' if there are none. A usual cause is an id in the body alone
 */
export function writeCriteriaOf(request: Request, type: string): string {
  const criteria = criteriaOf(request);
  if (criteria !== '') return criteria;
  throw new ServiceError(
    'criteria-invalid',
    `Name the resource in the path, as in ${type}/p7, or by criteria, such as ${type}?identifier=http://clinic.example/mrn|1.`,
  );
}

/**
 * The criteria of a create: in `If-None-Exist` (http://hl7.org/fhir/R4/http.html#ccreate) or in the URL. Undefined if
 * the create is unconditional.
 */
export function createCriteriaOf(request: Request): string | undefined {
  const inHeader = request.get('if-none-exist');
  // Node joins repeated headers with a comma, but in criteria a comma means OR.
  if ((request.headersDistinct['if-none-exist']?.length ?? 0) > 1)
    throw new ServiceError('header-invalid', 'If-None-Exist is given twice; join the criteria with "&" in one.');
  // Node decodes a header as ISO 8859-1. Criteria with letters beyond ASCII would match nothing, and each repeat of the
  // request would create one more resource.
  if (inHeader !== undefined && BEYOND_ASCII.test(inHeader))
    throw new ServiceError(
      'header-invalid',
      'If-None-Exist has a letter beyond ASCII. Escape its UTF-8 bytes, as in a URL.',
    );
  const inUrl = criteriaOf(request);
  if (inHeader !== undefined && inUrl !== '')
    throw new ServiceError('header-invalid', 'Send the criteria in If-None-Exist or in the URL, not in both.');
  return inHeader ?? (inUrl === '' ? undefined : inUrl);
}

/** Whether a create is conditional. It does not read the criteria, since access is decided before they are read. */
export const isConditionalCreate = (request: Request): boolean =>
  request.headers['if-none-exist'] !== undefined || criteriaOf(request) !== '';

/** Whether the client requests, by `_no-content=true`, that DELETE answers 204 without the deleted resource. */
export function isNoContent(request: Request): boolean {
  const text = queryOf(request).get('_no-content');
  if (['true', 'false', '', null].includes(text)) return text === 'true';
  throw parameterInvalid('_no-content must be true or false.');
}

/**
 * Refuses criteria in addition to an id. The client would expect that the criteria decide, but the server would ignore
 * them.
 * @throws ServiceError 'invalid' unless `Prefer` allows unknown parameters
 */
export function assertNoCriteria(request: Request): void {
  if (!request.url.includes('?') || isLenient(request.get('prefer'))) return;
  const [name] = new URLSearchParams(criteriaOf(request)).keys();
  if (name === undefined) return;
  throw new ServiceError(
    'parameter-unknown',
    `A write by id takes no "${name.slice(0, 64)}". Leave it out, or leave the id out for a conditional write.`,
  );
}

/**
 * Refuses headers with a condition that the method does not support. If they were ignored, the write would happen also
 * where the condition should prevent it.
 * @throws ServiceError 'header-invalid' with the remedy
 */
export function assertNoHeaders(request: Request, names: readonly string[], remedy: string): void {
  const sent = names.find((name) => request.get(name) !== undefined);
  if (sent !== undefined)
    throw new ServiceError('header-invalid', `${request.method} does not support ${sent}. ${remedy}`);
}

/** Whether the client allows, by `x-conditional-delete: remove-all`, that several resources are deleted. */
export function isRemoveAll(request: Request): boolean {
  const header = request.get('x-conditional-delete');
  if (header === undefined || header === 'remove-all') return header !== undefined;
  throw new ServiceError('header-invalid', 'x-conditional-delete takes "remove-all" and nothing else.');
}
