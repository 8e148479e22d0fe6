import { type EventRange } from '../../delivery/timeline';
import { valuesInBody } from '../../operation/body-values';
import { type OperationDefinition, type OperationRequest } from '../../operation/operation';
import { type ErrorCode } from '../../platform/errors/error-codes';
import { ServiceError } from '../../platform/errors/service-error';
import { SHAPE_PARAMETERS } from '../../platform/http/known-parameters';

// All functions of this file throw a ServiceError 'invalid' that names the parameter.

/** Settings that the operations on one destination share. */
export const ON_DESTINATION = {
  resourceType: 'SvcTopicDestination',
  level: 'instance',
  exampleId: 'hook-1',
  tag: 'Topics',
} as const satisfies Partial<OperationDefinition>;

export type CallParameters = ReadonlyMap<string, string>;

/** Reads the query, and the Parameters in the body. */
export const callParametersOf = (
  { query, body }: Pick<OperationRequest, 'query' | 'body'>,
  names: readonly string[],
): CallParameters => callParametersIn(query, valuesInBody(body), names);

/** Returns the parameters of the query and of the body. Refuses a name that is unknown or repeated. */
export function callParametersIn(
  query: URLSearchParams,
  inBody: readonly [name: string, value: string][],
  names: readonly string[],
): CallParameters {
  const found = new Map<string, string>();
  const asked = [...query].filter(([name]) => !SHAPE_PARAMETERS.includes(name));
  for (const [name, value] of [...asked, ...inBody]) {
    if (!names.includes(name))
      throw parameterRefusal(
        name,
        `is no parameter here. There are ${names.join(', ') || 'none'}`,
        'parameter-unknown',
      );
    if (found.has(name)) throw parameterRefusal(name, 'is given twice. Send it once', 'parameter-repeated');
    found.set(name, value);
  }
  return found;
}

/** Names of the parameters for a range of event numbers and one of times, including both ends. */
export const RANGE_NAMES = ['from', 'to', 'since', 'until'] as const;

export const eventRangeOf = (parameters: CallParameters): EventRange => ({
  fromNumber: wholeNumber(parameters, 'from'),
  toNumber: wholeNumber(parameters, 'to'),
  since: instant(parameters, 'since'),
  until: instant(parameters, 'until'),
});

export function wholeNumber(
  parameters: CallParameters,
  name: string,
  most = Number.MAX_SAFE_INTEGER,
  least = 1,
): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw parameterRefusal(name, `must be a whole number from ${least} to ${most}`);
}

export function choice<T extends string>(parameters: CallParameters, name: string, known: readonly T[]): T | undefined {
  const text = parameters.get(name);
  const found = known.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw parameterRefusal(name, `must be one of ${known.join(', ')}`);
}

export const callFlagOf = (parameters: CallParameters, name: string): boolean =>
  choice(parameters, name, ['true', 'false']) === 'true';

/** An instant with a time zone. Without one, the meaning of the time would be unknown. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function instant(parameters: CallParameters, name: string): Date | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  const date = INSTANT.test(text) ? new Date(text) : new Date(NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw parameterRefusal(name, 'must be a time with its zone, such as 2026-01-31T09:30:00Z');
}

const parameterRefusal = (name: string, message: string, code: ErrorCode = 'parameter-value-invalid'): ServiceError =>
  new ServiceError('invalid', `${name.slice(0, 64)} ${message}.`, { code, expression: name.slice(0, 64) });
