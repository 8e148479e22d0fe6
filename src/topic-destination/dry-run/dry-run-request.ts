import { dateParameter } from '../../fhir/instant';
import { type Resource } from '../../fhir/types';
import { type ResourceTypes } from '../../model/resource-types';
import { valuesIn } from '../../operation/body-values';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { memberOf } from '../../platform/json/plain-object';
import { readJsonInSteps } from '../../platform/json/read-json';
import { type Steps } from '../../platform/time/steps';
import { parseHistoryPosition } from '../../store/history-position';
import { type HistoryPosition } from '../../store/history-statements';
import { callParametersIn, choice, wholeNumber } from '../operations/destination-call';
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

const NAMES = ['start', 'end', '_count', '_fires', '_after'];

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
  types: ResourceTypes,
): Steps<DryRunRequest> {
  const { topic, inBody } = yield* readBody(body);
  const parameters = callParametersIn(query, inBody, NAMES);
  if (memberOf(topic, 'resourceType') !== 'SvcSubscriptionTopic') {
    throw new ServiceError(
      'body-not-a-resource',
      'Send a SvcSubscriptionTopic, or Parameters with a resource of type SvcSubscriptionTopic as "topic".',
    );
  }
  const [from, until, after] = ['start', 'end', '_after'].map((name) => parameters.get(name));
  const end = until === undefined ? now.getTime() : dateParameter('end', until).high;
  const start = from === undefined ? end - DEFAULT_WINDOW_MILLISECONDS : dateParameter('start', from).low;
  if (start > end) throw parameterInvalid('start must not lie behind the end.', 'start');
  const fires = choice(parameters, '_fires', ['true', 'false']);
  return {
    topic: yield* newTopicOf(topic as Resource, types),
    start: new Date(start),
    end: new Date(Math.min(end, now.getTime())),
    count: wholeNumber(parameters, '_count', MAX_COUNT, 0) ?? DEFAULT_COUNT,
    fires: fires === undefined ? undefined : fires === 'true',
    after: after === undefined ? undefined : parseHistoryPosition(after),
  };
}

/** Returns the topic in the body, and its other parameters. A body may have megabytes, so it is read in steps. */
function* readBody(body: Buffer): Steps<{ readonly topic: unknown; readonly inBody: ReturnType<typeof valuesIn> }> {
  if (body.length === 0) return { topic: undefined, inBody: [] };
  const { value } = yield* readJsonInSteps(decodeUtf8(body));
  if (memberOf(value, 'resourceType') !== 'Parameters') return { topic: value, inBody: [] };
  const { parameter } = value as Resource;
  if (!Array.isArray(parameter)) return { topic: undefined, inBody: valuesIn(value) };
  const place = parameter.findIndex((one) => memberOf(one, 'name') === 'topic');
  const others = parameter.filter((_one, at) => at !== place);
  return {
    topic: memberOf(parameter[place], 'resource'),
    inBody: valuesIn({ resourceType: 'Parameters', parameter: others }),
  };
}
