import { ServiceError } from '../../platform/errors/service-error';
import { isObject } from '../../platform/json/plain-object';
import { type Resource } from '../../fhir/types';

type Shape = 'string' | 'boolean' | 'positive-integer' | 'string-array' | 'object';

/** The largest positiveInt (http://hl7.org/fhir/R4/datatypes.html#positiveInt); as seconds it is 68 years. */
const MAX_INTEGER = 2 ** 31 - 1;

const CHECKS: Readonly<Record<Shape, { readonly is: (value: unknown) => boolean; readonly text: string }>> = {
  string: { is: (value) => typeof value === 'string', text: 'a string' },
  boolean: { is: (value) => typeof value === 'boolean', text: 'true or false' },
  'positive-integer': {
    is: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_INTEGER,
    text: `a whole number from 1 to ${MAX_INTEGER}`,
  },
  'string-array': {
    is: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    text: 'a list of strings',
  },
  object: { is: isObject, text: 'an object' },
};

/**
 * Checks the types of those members that are present.
 * @throws ServiceError 'unprocessable' that names the first member with a wrong type
 */
export function assertShapes(path: string, object: unknown, shapes: Readonly<Record<string, Shape>>): void {
  for (const [name, shape] of Object.entries(shapes)) {
    const value = (object as Resource)[name];
    if (value !== undefined && !CHECKS[shape].is(value)) {
      throw refused(`${path}.${name}`, `must be ${CHECKS[shape].text}`);
    }
  }
}

/** Elements of a type that each hold one text at most. */
export const strings = (...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, '0..1 string']));

export const refused = (expression: string, reason: string, hint = ''): ServiceError =>
  new ServiceError('account-invalid', `${expression} ${reason}.${hint}`, { expression });
