import { ServiceError } from '../platform/errors/service-error';
import { type Subset } from './subset';

/** `Patient.contact.name`, or `-photo` to leave one out. */
const PATH = /^-?\w[\w-]*(?:\.\w[\w-]*)*$/;

/**
 * Reads `_summary` and `_elements` (http://hl7.org/fhir/R4/search.html#summary, #elements).
 * @returns `'count'` when no resource is asked for, undefined when whole ones are
 * @throws ServiceError 'invalid' for what is neither
 */
export function readSubset(query: URLSearchParams): Subset | 'count' | undefined {
  const summary = query.get('_summary') ?? '';
  const names = query.getAll('_elements').flatMap((list) => list.split(','));
  const paths = names.map((name) => name.trim()).filter((name) => name !== '');
  if (summary === 'count') return 'count';
  if (summary !== '' && summary !== 'true' && summary !== 'text' && summary !== 'data' && summary !== 'false') {
    throw new ServiceError('invalid', '_summary must be true, text, data, count or false.');
  }
  const isWhole = summary === '' || summary === 'false';
  if (paths.length === 0) return isWhole ? undefined : { summary };
  if (!isWhole) throw new ServiceError('invalid', 'Use _summary or _elements, not both.');
  if (!paths.every((path) => PATH.test(path))) {
    throw new ServiceError(
      'invalid',
      '_elements must be names of elements with commas between, such as name,birthDate.',
    );
  }
  const [without, elements] = [
    paths.filter((path) => path.startsWith('-')),
    paths.filter((path) => !path.startsWith('-')),
  ];
  return {
    elements: elements.map((path) => path.split('.')),
    without: without.map((path) => path.slice(1).split('.')),
  };
}
