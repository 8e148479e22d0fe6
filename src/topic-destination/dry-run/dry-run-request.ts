import { type ElementTables } from '../../fhir/definitions/element-tables';
import { dateParameter } from '../../fhir/instant';
import { FORMAT_PARAMETERS } from '../../fhir/edge/format';
import { type Resource } from '../../fhir/types';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { readJsonInSteps } from '../../platform/json/read-json';
import { type Steps } from '../../platform/time/steps';
import { isObject } from '../../platform/json/plain-object';
import { parseHistoryPosition } from '../../store/history-position';
import { type HistoryPosition } from '../../store/history-statements';
import { newTopicOf, type Topic } from '../topics/topic';

export interface DryRunRequest {
  readonly topic: Topic;
  /** The dry run examines versions that were written from `start` to `end`, including both. */
  readonly start: Date;
  readonly end: Date;
  /** How many versions to list; with 0, versions are only counted. */
  readonly count: number;
  /** If present, only the newest versions that fire (true) or do not fire (false) are listed. All are counted. */
  readonly fires: boolean | undefined;
  readonly after: HistoryPosition | undefined;
}

const DEFAULT_WINDOW_MILLISECONDS = 24 * 3_600_000;
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1_000;

const VALUES: Readonly<Record<string, readonly string[]>> = {
  topic: ['resource'],
  start: ['valueDateTime', 'valueInstant', 'valueDate'],
  end: ['valueDateTime', 'valueInstant', 'valueDate'],
  _count: ['valueUnsignedInt', 'valueInteger'],
  _fires: ['valueBoolean'],
  _after: ['valueString'],
};

/**
 * Reads the body: a SvcSubscriptionTopic, or Parameters with `topic`, `start`, `end`, `_count`, `_fires` and `_after`.
 * The query may contain these parameters too.
 * @throws ServiceError 'invalid' for an unknown or malformed parameter, 'unprocessable' for a topic that could not be
 * stored
 */
export function* readDryRunRequest(
  body: Buffer,
  query: URLSearchParams,
  now: Date,
  tables: ElementTables,
): Steps<DryRunRequest> {
  const values = yield* submittedValues(body, query);
  const topic = values.get('topic');
  if (topic === undefined) {
    throw new ServiceError(
      'body-not-a-resource',
      'Send a SvcSubscriptionTopic, or Parameters with one as the resource of "topic".',
    );
  }
  const text = (name: string): string | undefined => {
    const value = values.get(name);
    if (value !== undefined && typeof value !== 'string') throw invalid(name, 'must be a text.');
    return value;
  };
  const [from, until] = [text('start'), text('end')];
  const end = until === undefined ? now.getTime() : dateParameter('end', until).high;
  const start = from === undefined ? end - DEFAULT_WINDOW_MILLISECONDS : dateParameter('start', from).low;
  if (start > end) throw invalid('start', 'must not lie behind the end.');
  const after = text('_after');
  return {
    topic: yield* newTopicOf(topic as Resource, tables),
    start: new Date(start),
    end: new Date(Math.min(end, now.getTime())),
    count: mostEvents(values.get('_count')),
    fires: flagOf('_fires', values.get('_fires')),
    after: after === undefined ? undefined : parseHistoryPosition(after),
  };
}

function* submittedValues(body: Buffer, query: URLSearchParams): Steps<ReadonlyMap<string, unknown>> {
  const values = new Map<string, unknown>();
  const set = (name: string, value: unknown): void => {
    if (!Object.hasOwn(VALUES, name)) {
      throw invalid(name.slice(0, 64), `is no parameter of $dry-run; it takes ${Object.keys(VALUES).join(', ')}.`);
    }
    if (values.has(name)) throw invalid(name, 'is given twice. Send it once.');
    values.set(name, value);
  };
  for (const [name, value] of query) if (!FORMAT_PARAMETERS.includes(name)) set(name, value);
  const sent = body.length === 0 ? undefined : ((yield* readJsonInSteps(decodeUtf8(body))).value as Resource);
  if (sent?.resourceType !== 'Parameters') {
    if (sent !== undefined) set('topic', topicIn(sent));
    return values;
  }
  for (const parameter of arrayOf(sent.parameter)) {
    const { name, ...rest } = parameter;
    if (typeof name !== 'string') throw invalid('parameter', 'has an element without a name.');
    const members = Object.keys(rest);
    const [member = ''] = members;
    if (Object.hasOwn(VALUES, name) && (members.length !== 1 || VALUES[name]?.includes(member) !== true))
      throw invalid(name, `takes its value in ${VALUES[name]?.join(' or ')}, and nothing else.`);
    set(name, name === 'topic' ? topicIn(rest.resource) : rest[member]);
  }
  return values;
}

function topicIn(value: unknown): Resource {
  const { resourceType } = (value ?? {}) as Partial<Resource>;
  if (resourceType === 'SvcSubscriptionTopic') return value as Resource;
  throw invalid('topic', 'must be a resource of type SvcSubscriptionTopic.');
}

function arrayOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw invalid('parameter', 'must be an array of objects.');
}

function mostEvents(value: unknown): number {
  const count = value === undefined ? DEFAULT_COUNT : Number(value);
  if (Number.isInteger(count) && count >= 0 && count <= MAX_COUNT) return count;
  throw invalid('_count', `must be a whole number from 0, which only counts, to ${MAX_COUNT}.`);
}

function flagOf(name: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  const flag = [true, false].find((known) => known === value || String(known) === value);
  if (flag === undefined) throw invalid(name, 'must be true or false.');
  return flag;
}

const invalid = (name: string, message: string): ServiceError => parameterInvalid(`${name} ${message}`, name);
