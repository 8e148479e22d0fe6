import { FORMAT_PARAMETERS } from '../../fhir/edge/format';
import { type Resource } from '../../fhir/types';
import { type EventRange } from '../../delivery/timeline';
import { type ErrorCode } from '../../platform/errors/error-codes';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJson } from '../../platform/json/read-json';

export type CallParameters = ReadonlyMap<string, string>;

/**
 * Reads the query and, if there is one, the body: a Parameters resource with one value for each name.
 * @throws ServiceError 'invalid' for an unknown or repeated name
 */
export function callParametersOf(
  { query, body }: { readonly query: URLSearchParams; readonly body: Buffer },
  names: readonly string[],
): CallParameters {
  const found = new Map<string, string>();
  const asked = [...query].filter(([name]) => !FORMAT_PARAMETERS.includes(name));
  for (const [name, value] of [...asked, ...parametersIn(body)]) {
    if (!names.includes(name))
      throw parameterRefusal(
        name,
        `is no parameter here. There are ${names.join(', ') || 'none'}`,
        'parameter-unknown',
      );
    if (found.has(name)) throw parameterRefusal(name, 'may appear only once', 'parameter-repeated');
    found.set(name, value);
  }
  return found;
}

/**
 * Names of the parameters for a range of event numbers (`from`, `to`) and of times (`since`, `until`), including both
 * ends.
 */
export const RANGE_NAMES = ['from', 'to', 'since', 'until'] as const;

/** @throws ServiceError 'invalid' that names the parameter */
export const eventRangeOf = (parameters: CallParameters): EventRange => ({
  fromNumber: wholeNumber(parameters, 'from'),
  toNumber: wholeNumber(parameters, 'to'),
  since: instant(parameters, 'since'),
  until: instant(parameters, 'until'),
});

/** @throws ServiceError 'invalid' that names the parameter */
export function wholeNumber(
  parameters: CallParameters,
  name: string,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= 1 && number <= most) return number;
  throw parameterRefusal(name, `must be a whole number from 1 to ${most}`);
}

/** @throws ServiceError 'invalid' that names the parameter */
export function callFlagOf(parameters: CallParameters, name: string): boolean {
  const text = parameters.get(name) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw parameterRefusal(name, 'must be true or false');
}

/** An instant with a time zone. Without one, the meaning of the time would be unknown. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function instant(parameters: CallParameters, name: string): Date | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const date = INSTANT.test(text) ? new Date(text) : new Date(NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw parameterRefusal(name, 'must be a time with its zone, such as 2026-01-31T09:30:00Z');
}

function parametersIn(body: Buffer): readonly [string, string][] {
  if (body.length === 0) return [];
  const { resourceType, parameter = [] } = readJson(decodeUtf8(body)).value as Resource;
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) {
    throw new ServiceError('invalid', 'Send Parameters, or no body and a query.', { code: 'body-not-a-resource' });
  }
  return parameter.map((element: unknown) => {
    const { name, ...rest } = (element ?? {}) as Readonly<Record<string, unknown>>;
    const [value, ...more] = Object.entries(rest).filter(([member]) => member.startsWith('value'));
    const isValue = ['string', 'number', 'boolean'].includes(typeof value?.[1]);
    if (typeof name !== 'string' || value === undefined || !isValue || more.length > 0) {
      throw new ServiceError('invalid', 'Each parameter has a name and one value: a text, a number or a boolean.', {
        code: 'parameter-value-invalid',
        expression: 'Parameters.parameter',
      });
    }
    return [name, String(value[1])];
  });
}

const parameterRefusal = (name: string, message: string, code: ErrorCode = 'parameter-value-invalid'): ServiceError =>
  new ServiceError('invalid', `${name.slice(0, 64)} ${message}.`, { code, expression: name.slice(0, 64) });
