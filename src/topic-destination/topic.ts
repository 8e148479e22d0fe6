import { type Resource } from '../fhir/types';
import { ServiceError } from '../platform/errors/service-error';
import { type Interaction } from '../resource/resource-change';
import { type TopicCriteria, compileCriteria, tryCriteria } from './topic-criteria';

/** What makes a topic fire. */
export interface TopicTrigger {
  readonly type: string;
  readonly interactions: readonly Interaction[];
  /** Absent where every change matches. */
  readonly criteria?: TopicCriteria;
}

export interface Topic {
  readonly url: string;
  readonly version?: string;
  /** Only an active topic fires. */
  readonly isActive: boolean;
  readonly triggers: readonly TopicTrigger[];
}

const STATUSES = ['draft', 'active', 'retired', 'unknown'];
const INTERACTIONS = ['create', 'update', 'delete'] as const satisfies readonly Interaction[];

/**
 * Reads a SvcSubscriptionTopic.
 * @throws ServiceError 'unprocessable' that names the element and says what to do.
 */
export function topicOf(resource: Resource): Topic {
  const { url, version, status, trigger = [] } = resource;
  if (typeof url !== 'string' || !/^\S+$/.test(url))
    throw refusal('url', 'must be the canonical URL that destinations name.');
  if (typeof status !== 'string' || !STATUSES.includes(status))
    throw refusal('status', `must be one of ${STATUSES.join(', ')}.`);
  if (version !== undefined && typeof version !== 'string') throw refusal('version', 'must be a string.');
  if (!Array.isArray(trigger)) throw refusal('trigger', 'must be an array.');
  return {
    url,
    ...(version === undefined ? {} : { version }),
    isActive: status === 'active',
    triggers: trigger.map((element: unknown, index) => triggerOf(element, `trigger[${index}]`)),
  };
}

/**
 * Reads a SvcSubscriptionTopic that is about to be stored: its criteria are tried out.
 * @throws ServiceError 'unprocessable' as {@link topicOf}
 */
export function newTopicOf(resource: Resource): Topic {
  const topic = topicOf(resource);
  topic.triggers.forEach(({ type, criteria }, index) => {
    if (criteria === undefined) return;
    orRefusal(`trigger[${index}]`, () => {
      tryCriteria(criteria, type);
    });
  });
  return topic;
}

/** Whether a destination that names `canonical` means this topic: by its URL and, where one is named, its version. */
export function isNamedBy({ url, version }: Topic, canonical: string): boolean {
  return canonical === url || (version !== undefined && canonical === `${url}|${version}`);
}

function triggerOf(element: unknown, path: string): TopicTrigger {
  if (typeof element !== 'object' || element === null) throw refusal(path, 'must be an object.');
  const {
    resource,
    supportedInteraction = INTERACTIONS,
    fhirPathCriteria,
  } = element as Readonly<Record<string, unknown>>;
  const type = typeof resource === 'string' ? resource.replace(/^https?:\/\/\S+\/StructureDefinition\//, '') : '';
  if (!/^[A-Z][A-Za-z]*$/.test(type))
    throw refusal(
      `${path}.resource`,
      'must be a resource type, such as "Patient", or the URL of its StructureDefinition.',
    );
  if (!Array.isArray(supportedInteraction) || !supportedInteraction.every(isInteraction)) {
    throw refusal(`${path}.supportedInteraction`, `must be an array of ${INTERACTIONS.join(', ')}.`);
  }
  const criteria = criteriaOf(fhirPathCriteria, path);
  return {
    type,
    interactions: supportedInteraction.length === 0 ? INTERACTIONS : supportedInteraction,
    ...(criteria === undefined ? {} : { criteria }),
  };
}

const isInteraction = (value: unknown): value is Interaction =>
  INTERACTIONS.some((interaction) => interaction === value);

function criteriaOf(expression: unknown, path: string): TopicCriteria | undefined {
  if (expression === undefined || expression === '') return undefined;
  if (typeof expression !== 'string') throw refusal(`${path}.fhirPathCriteria`, 'must be a string.');
  return orRefusal(path, () => compileCriteria(expression));
}

function orRefusal<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'unknown reason';
    throw refusal(`${path}.fhirPathCriteria`, `is no FHIRPath expression that this server can evaluate: ${reason}`);
  }
}

const refusal = (path: string, message: string): ServiceError =>
  new ServiceError('unprocessable', `${path} ${message}`, { expression: `SvcSubscriptionTopic.${path}` });
