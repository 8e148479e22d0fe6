import { evaluatorOf } from '../../fhirpath/fhirpath';
import { isObject } from '../../platform/json/plain-object';
import { type SearchParameter } from '../../search-index/extract/search-parameter';

/**
 * Maximum number of values that an explanation shows of one parameter, and maximum length of each, since people read
 * the explanation.
 */
const MAX_VALUES = 5;
const MAX_LENGTH = 100;

/**
 * The values of a search parameter in a resource, written as a search would name them: `Organization/w1`,
 * `http://loinc.org|8302-2`. Undefined if one of the values has no such text (a name, period or quantity).
 */
export function parameterValues({ branches }: SearchParameter, resource: unknown): readonly string[] | undefined {
  const found = evaluatorOf({ branches })(resource, { resource }).map(searchTexts);
  if (found.some((texts) => texts.length === 0)) return undefined;
  return [...new Set(found.flat())].slice(0, MAX_VALUES).map((text) => text.slice(0, MAX_LENGTH));
}

function searchTexts(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (!isObject(value)) return [];
  const { reference, resourceType, id, coding, system, code, value: text } = value;
  if (typeof reference === 'string') return [reference];
  if (typeof resourceType === 'string' && typeof id === 'string') return [`${resourceType}/${id}`];
  if (Array.isArray(coding)) return coding.flatMap(searchTexts);
  const token = code ?? text;
  if (typeof token !== 'string') return [];
  return [typeof system === 'string' ? `${system}|${token}` : token];
}
