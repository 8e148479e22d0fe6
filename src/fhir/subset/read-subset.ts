import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { askedElements } from './element-paths';
import { type Subset } from './subset';

/**
 * One path of `_elements`: `Patient.contact.name`, or `-photo` to exclude an element. Its length is bounded, since no
 * resource is deeper than 64 levels.
 */
const PATH = /^-?\w[\w-]*(?:\.\w[\w-]*){0,63}$/;

/** Maximum number of paths in `_elements`; a search parameter may have as many values. */
const MOST_NAMES = 1_000;

/**
 * Reads `_summary` and `_elements` (http://hl7.org/fhir/R4/search.html#summary, #elements).
 * @returns `'count'` if no resources are requested, undefined for whole resources
 * @throws ServiceError 'invalid' for other values
 */
export function readSubset(query: URLSearchParams): Subset | 'count' | undefined {
  const summary = query.get('_summary') ?? '';
  const names = query
    .getAll('_elements')
    .join(',')
    .split(',', MOST_NAMES + 1);
  if (names.length > MOST_NAMES) throw parameterInvalid(`_elements takes at most ${MOST_NAMES} names of elements.`);
  const paths = names.map((name) => name.trim()).filter((name) => name !== '');
  if (summary === 'count') return 'count';
  if (summary !== '' && summary !== 'true' && summary !== 'text' && summary !== 'data' && summary !== 'false') {
    throw parameterInvalid('_summary must be true, text, data, count or false.');
  }
  const isWhole = summary === '' || summary === 'false';
  if (paths.length === 0) return isWhole ? undefined : { summary };
  if (!isWhole) throw new ServiceError('parameters-exclusive', 'Use _summary or _elements, not both.');
  if (!paths.every((path) => PATH.test(path))) {
    throw parameterInvalid('_elements must be names of elements with commas between, such as name,birthDate.');
  }
  const [dropped, kept] = [true, false].map((isDropped) =>
    paths.filter((path) => path.startsWith('-') === isDropped).map((path) => path.replace(/^-/, '').split('.')),
  );
  return { elements: askedElements(kept ?? [], dropped ?? []) };
}
