import { parameterInvalid } from '../platform/errors/parameter-invalid';
import { ServiceError } from '../platform/errors/service-error';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { readJson } from '../platform/json/read-json';

/**
 * The names and values in the Parameters of a call (http://hl7.org/fhir/R4/operations.html#request).
 * @throws ServiceError 'invalid' if the body is not a Parameters resource with simple values
 */
export const valuesInBody = (body: Buffer): readonly [name: string, value: string][] =>
  body.length === 0 ? [] : valuesIn(readJson(decodeUtf8(body)).value);

/** Like {@link valuesInBody}, for a body that is parsed already. */
export function valuesIn(value: unknown): readonly [name: string, value: string][] {
  const { resourceType, parameter = [] } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (resourceType !== 'Parameters' || !Array.isArray(parameter))
    throw new ServiceError('body-not-a-resource', 'Send a Parameters resource, or nothing.', {
      expression: 'Parameters',
    });
  return parameter.map((one: unknown, place): [string, string] => {
    const { name, ...rest } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const given = Object.entries(rest).filter(([key]) => /^value[A-Z]/.test(key));
    const plain = given[0]?.[1];
    const isPlain = ['string', 'number', 'boolean'].includes(typeof plain);
    if (typeof name === 'string' && given.length === 1 && isPlain) return [name, String(plain)];
    throw parameterInvalid(
      'Each parameter has a name and one plain value, such as valueInstant or valueCode.',
      `Parameters.parameter[${place}]`,
    );
  });
}
