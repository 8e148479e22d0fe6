import { type ElementTables } from '../../fhir/definitions/element-tables';
import { type Resource } from '../../fhir/types';
import { compileCriterion, type Criterion } from '../../fhirpath/fhirpath';
import { ServiceError } from '../../platform/errors/service-error';
import { type ResourceTypes } from '../../model/resource-types';
import { type PlainObject } from '../../platform/json/plain-object';
import { atOnce, type Steps } from '../../platform/time/steps';
import { type Interaction } from '../../resource/hooks/resource-change';
import { tryCriteria, undecidable } from '../criteria/topic-criteria';

/** A trigger of a topic: it fires for changes of one resource type. */
export interface TopicTrigger {
  readonly type: string;
  readonly interactions: readonly Interaction[];
  /** The criterion of the trigger; absent if every change matches. */
  readonly criteria?: Criterion;
  readonly expression?: string;
}

export interface Topic {
  readonly url: string;
  readonly version?: string;
  /** Whether the topic is active. Other topics never fire. */
  readonly isActive: boolean;
  readonly triggers: readonly TopicTrigger[];
}

const STATUSES = ['draft', 'active', 'retired', 'unknown'];
const INTERACTIONS = ['create', 'update', 'delete'] as const satisfies readonly Interaction[];

/** Maximum number of triggers of a topic. One write may have to evaluate all of them. */
const MAX_TRIGGERS = 100;

/**
 * Elements that this server does not support, with the reason in the error. They select events or change their content,
 * so ignoring them silently would mislead people.
 */
const NOT_EVALUATED: Readonly<Record<string, string>> = {
  event: 'triggers fire for writes of resources alone',
  notificationShape: 'a notification holds the resource of the event alone',
  queryCriteria: 'write it as fhirPathCriteria, with %previous and %current',
};

/**
 * Reads a stored SvcSubscriptionTopic. An earlier release may have stored a criterion that this server cannot compile.
 * Such a criterion matches every change: an unnecessary event is harmless, a lost event is not.
 * @throws ServiceError 'unprocessable' that names the element and says what to do
 */
export function topicOf(resource: Resource): Topic {
  const steps = readTopic(resource, (expression, type) => {
    try {
      return compileCriterion(expression, type);
    } catch {
      return undecidable;
    }
  });
  return atOnce(steps);
}

/**
 * Reads a new topic. It has no unsupported elements. Its types, and the elements that its criteria name, exist. Its
 * criteria are tried out.
 * @throws as {@link topicOf}
 */
export function* newTopicOf(resource: Resource, types: ResourceTypes): Steps<Topic> {
  const tables = types.elements;
  const sent = resource.trigger as readonly PlainObject[] | undefined;
  if (Array.isArray(sent) && sent.length > MAX_TRIGGERS)
    throw topicRefusal('trigger', `may appear at most ${MAX_TRIGGERS} times.`);
  const topic = yield* readTopic(resource, newCriteriaOf(tables));
  const known = types.names();
  topic.triggers.forEach(({ type }, index) => {
    const path = `trigger[${index}]`;
    const trigger = sent?.[index] ?? {};
    for (const [member, reason] of Object.entries(NOT_EVALUATED))
      if (trigger[member] !== undefined)
        throw topicRefusal(`${path}.${member}`, `is not evaluated by this server, so leave it out: ${reason}.`);
    assertFilters(trigger.canFilterBy, type, tables, `${path}.canFilterBy`);
    if (!known.includes(type))
      throw topicRefusal(`${path}.resource`, `names "${type}", which is not a resource type of this server.`);
  });
  return topic;
}

type ReadCriteria = (expression: string, type: string, path: string) => Criterion;

function* readTopic(resource: Resource, readCriteria: ReadCriteria): Steps<Topic> {
  const { url, version, status, trigger = [] } = resource;
  if (typeof url !== 'string' || !/^\S+$/.test(url))
    throw topicRefusal('url', 'must be the canonical URL that destinations name.');
  if (typeof status !== 'string' || !STATUSES.includes(status))
    throw topicRefusal('status', `must be one of ${STATUSES.join(', ')}.`);
  if (version !== undefined && typeof version !== 'string') throw topicRefusal('version', 'must be a string.');
  if (!Array.isArray(trigger)) throw topicRefusal('trigger', 'must be an array.');
  const triggers: TopicTrigger[] = [];
  for (const [index, element] of (trigger as readonly unknown[]).entries()) {
    triggers.push(triggerOf(element, `trigger[${index}]`, readCriteria));
    yield;
  }
  return { url, ...(version === undefined ? {} : { version }), isActive: status === 'active', triggers };
}

/** Returns the canonicals by which destinations may name a topic: its URL, with and without its version. */
export const canonicalsOf = ({ url, version }: Topic): readonly string[] =>
  version === undefined ? [url] : [url, `${url}|${version}`];

function triggerOf(element: unknown, path: string, readCriteria: ReadCriteria): TopicTrigger {
  if (typeof element !== 'object' || element === null) throw topicRefusal(path, 'must be an object.');
  const { resource, supportedInteraction = INTERACTIONS, fhirPathCriteria } = element as PlainObject;
  const type = typeof resource === 'string' ? resource.replace(/^https?:\/\/\S+\/StructureDefinition\//, '') : '';
  if (!/^[A-Z][A-Za-z]*$/.test(type))
    throw topicRefusal(
      `${path}.resource`,
      'must be a resource type, such as "Patient", or the URL of its StructureDefinition.',
    );
  if (!Array.isArray(supportedInteraction) || !supportedInteraction.every(isInteraction)) {
    throw topicRefusal(`${path}.supportedInteraction`, `must be an array of ${INTERACTIONS.join(', ')}.`);
  }
  const at = `${path}.fhirPathCriteria`;
  if (fhirPathCriteria !== undefined && typeof fhirPathCriteria !== 'string')
    throw topicRefusal(at, 'must be a string.');
  const isAbsent = fhirPathCriteria === undefined || fhirPathCriteria.trim() === '';
  return {
    type,
    interactions: supportedInteraction.length === 0 ? INTERACTIONS : supportedInteraction,
    ...(isAbsent ? {} : { criteria: readCriteria(fhirPathCriteria, type, at), expression: fhirPathCriteria }),
  };
}

const isInteraction = (value: unknown): value is Interaction =>
  INTERACTIONS.some((interaction) => interaction === value);

const newCriteriaOf =
  (tables: ElementTables): ReadCriteria =>
  (expression, type, path) =>
    evaluable(path, () => {
      const criteria = compileCriterion(expression, type, tables.namedIn(type));
      tryCriteria(criteria, type);
      return criteria;
    });

/**
 * Checks `canFilterBy`, which lists the filters that subscribers may use. Destinations of this server cannot filter
 * (`filterBy` is refused), so this element affects no event. Filters that could never work are refused nevertheless.
 */
function assertFilters(filters: unknown, type: string, tables: ElementTables, path: string): void {
  if (filters === undefined) return;
  if (!Array.isArray(filters)) throw topicRefusal(path, 'must be an array.');
  filters.forEach((filter: unknown, index) => {
    const at = `${path}[${index}]`;
    const expressionAt = `${at}.filterDefinitionFhirPathExpression`;
    const { comparator, filterDefinitionFhirPathExpression: expression } = (filter ?? {}) as PlainObject;
    if (!Array.isArray(comparator) || comparator.length === 0 || comparator.some((code) => code !== 'eq'))
      throw topicRefusal(`${at}.comparator`, 'must hold eq alone: there is no other comparator.');
    if (typeof expression !== 'string') throw topicRefusal(expressionAt, 'must be a FHIRPath expression.');
    evaluable(expressionAt, () => compileCriterion(expression, type, tables.namedIn(type)));
  });
}

function evaluable(path: string, compile: () => Criterion): Criterion {
  try {
    return compile();
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'unknown reason';
    const message = `is no FHIRPath expression that this server can evaluate: ${reason}`;
    throw topicRefusal(path, reason.endsWith('?') ? message : `${message}.`);
  }
}

const topicRefusal = (path: string, message: string): ServiceError =>
  new ServiceError('topic-invalid', `${path} ${message}`, { expression: `SvcSubscriptionTopic.${path}` });
