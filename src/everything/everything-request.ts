import { dateSpanOf } from '../fhir/instant';
import { readSubset } from '../fhir/read-subset';
import { type Subset } from '../fhir/subset';
import { ServiceError } from '../platform/errors/service-error';
import { isLenient, timeoutOf } from '../resource/search/result-parameters';
import { type CarePeriod } from './member-filter';

/** What the underlying queries may take when nothing else is asked. */
const DEFAULT_TIMEOUT_SECONDS = 60;

/** Parameters that may be repeated: all their values count. */
const LISTS = ['_type', '_elements'];
const PARAMETERS = ['_since', '_timeout', '_type', 'start', 'end', '_elements', '_summary', '_format', '_pretty'];

export interface EverythingRequest {
  readonly since: Date | undefined;
  readonly period: CarePeriod | undefined;
  /** Types of the compartment that are asked for; undefined: all. */
  readonly types: ReadonlySet<string> | undefined;
  readonly timeoutSeconds: number;
  /** The part of each resource that is asked for; `count` asks for none at all. */
  readonly subset: Subset | 'count' | undefined;
  /** The parameters that were used, as the `self` link shows them. */
  readonly used: URLSearchParams;
}

/**
 * Reads the parameters of `$everything` (interface, "Patient everything"; docs/everything.md).
 * @throws ServiceError 'invalid' for a parameter that is unknown, repeated or malformed.
 */
export function readEverythingRequest(
  query: URLSearchParams,
  options: { prefer: string | undefined; maxTimeoutSeconds: number; isInCompartment: (type: string) => boolean },
): EverythingRequest {
  assertKnownNames(query, isLenient(options.prefer));
  const subset = readSubset(query);
  const used = new URLSearchParams();
  const asked = timeoutOf(query.get('_timeout'), options.maxTimeoutSeconds);
  const types = typesOf(query, options);
  for (const name of ['_since', 'start', 'end']) {
    const value = query.get(name);
    if (value !== null) used.set(name, value);
  }
  if (types !== undefined) used.set('_type', [...types].join(','));
  for (const name of ['_elements', '_summary', '_format', '_pretty'])
    for (const value of query.getAll(name)) used.append(name, value);
  if (asked !== undefined) used.set('_timeout', String(asked));
  const since = query.get('_since');
  return {
    since: since === null ? undefined : new Date(spanOf('_since', since, '2026-01-31T10:00:00Z').low),
    period: periodOf(query),
    types,
    timeoutSeconds: asked ?? Math.min(DEFAULT_TIMEOUT_SECONDS, options.maxTimeoutSeconds),
    subset,
    used,
  };
}

function assertKnownNames(query: URLSearchParams, ignoresUnknown: boolean): void {
  for (const name of new Set(query.keys())) {
    if (!PARAMETERS.includes(name) && !ignoresUnknown)
      throw new ServiceError(
        'invalid',
        `$everything does not know "${name.slice(0, 64)}"; it takes ${PARAMETERS.join(', ')}.`,
      );
    if (!LISTS.includes(name) && query.getAll(name).length > 1)
      throw new ServiceError('invalid', `${name.slice(0, 64)} is given twice.`);
  }
}

/** "After this instant": a date alone stands for its beginning, so that nothing of that day is missed. */
function spanOf(name: string, text: string, example: string): { readonly low: number; readonly high: number } {
  // An unencoded plus sign of a time zone arrives as a space.
  const span = dateSpanOf(text.replace(' ', '+'));
  if (span === undefined) throw new ServiceError('invalid', `${name} must be a date or time such as ${example}.`);
  return span;
}

function periodOf(query: URLSearchParams): CarePeriod | undefined {
  const edge = (name: string): ReturnType<typeof spanOf> | undefined => {
    const text = query.get(name);
    return text === null ? undefined : spanOf(name, text, '2026-01-31');
  };
  const [start, end] = [edge('start')?.low, edge('end')?.high];
  if (start === undefined && end === undefined) return undefined;
  if (start !== undefined && end !== undefined && start > end)
    throw new ServiceError('invalid', 'start must not be later than end.');
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

function typesOf(
  query: URLSearchParams,
  { prefer, isInCompartment }: { prefer: string | undefined; isInCompartment: (type: string) => boolean },
): ReadonlySet<string> | undefined {
  if (!query.has('_type')) return undefined;
  const named = query.getAll('_type').flatMap((list) => list.split(','));
  const types = named.map((name) => name.trim()).filter((name) => name !== '');
  if (types.length === 0)
    throw new ServiceError('invalid', '_type must name resource types, such as Observation,Condition.');
  const foreign = types.find((type) => !isInCompartment(type));
  if (foreign === undefined || isLenient(prefer)) return new Set(types.filter(isInCompartment));
  throw new ServiceError(
    'invalid',
    `_type: "${foreign.slice(0, 64)}" is no type of the Patient compartment (GET /fhir/CompartmentDefinition/patient tells them).`,
  );
}
