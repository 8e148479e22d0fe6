import { ServiceError } from '../../platform/errors/service-error';
import { assertUtf8 } from '../../platform/http/encoded-text';
import { RESULT_PARAMETERS } from '../query/result-parameters';

/** Parameters that would seem to narrow the criteria, but do not. Criteria with such a parameter are refused. */
const SHAPING: ReadonlySet<string> = new Set([...RESULT_PARAMETERS, '_contained', '_containedType']);

/** The query in criteria that are a query, or a whole search such as `Patient?identifier=7`. */
export function criteriaText(type: string, criteria: string): string {
  const text = criteria.trim();
  return text.startsWith(`${type}?`) ? text.slice(type.length + 1) : text;
}

/**
 * @throws ServiceError 'invalid' if the criteria are empty or no UTF-8, a parameter has no value, or a parameter shapes
 *   answers
 */
export function criteriaQuery(type: string, criteria: string): URLSearchParams {
  const text = criteriaText(type, criteria);
  // Criteria in a header or in a member of a Bundle did not pass the check of URLs.
  assertUtf8('The criteria', text);
  const query = new URLSearchParams(text);
  if (query.size === 0) {
    throw new ServiceError(
      'criteria-invalid',
      `Name criteria, such as ${type}?identifier=http://clinic.example/mrn|1.`,
    );
  }
  for (const [name, value] of query) {
    const shown = name.slice(0, 64);
    if (SHAPING.has(name.split(':', 1)[0] ?? ''))
      throw new ServiceError('criteria-invalid', `"${shown}" shapes answers; it cannot be a criterion.`);
    if (value.trim() === '') throw new ServiceError('criteria-invalid', `The criterion "${shown}" has no value.`);
  }
  return query;
}
