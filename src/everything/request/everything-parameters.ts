import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJson } from '../../platform/json/read-json';

/**
 * Returns the parameters of a call: those of the URL and, for a POST, those of its Parameters resource
 * (http://hl7.org/fhir/R4/operations.html#request).
 * @throws ServiceError 'invalid' if the body is not a Parameters resource with simple values
 */
export function parametersOf(query: URLSearchParams, body: Buffer): URLSearchParams {
  if (body.length === 0) return query;
  const { value } = readJson(decodeUtf8(body));
  const { resourceType, parameter = [] } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (resourceType !== 'Parameters' || !Array.isArray(parameter))
    throw new ServiceError('invalid', 'Send a Parameters resource, or nothing.', {
      code: 'body-not-a-resource',
      expression: 'Parameters',
    });
  const own = parameter.map((one: unknown, place): [string, string] => {
    const { name, ...rest } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const given = Object.entries(rest).filter(([key]) => /^value[A-Z]/.test(key));
    const text = given[0]?.[1];
    if (typeof name === 'string' && given.length === 1 && isPlain(text)) return [name, String(text)];
    throw new ServiceError(
      'invalid',
      'Each parameter has a name and one plain value, such as valueInstant or valueCode.',
      { code: 'parameter-value-invalid', expression: `Parameters.parameter[${place}]` },
    );
  });
  return new URLSearchParams([...query, ...own]);
}

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
