import { ATTEMPT_LOG_METHODS, type AttemptLogLevel } from '../../delivery/attempt-log-level';
import { type NativeReference, type Resource } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';

/** How the notifications of a destination look. It is stored as JSON with each batch, so that retries are identical. */
export interface DestinationPresentation {
  /** The canonical of the topic, as written in the destination. */
  readonly topic: string;
  readonly content: (typeof CONTENTS)[number];
  readonly includeEntryAction: boolean;
  readonly includeVersionId: boolean;
  readonly includeVersionIdInFocusReference: boolean;
  /** The beginning of the profile's canonical. The extensions in notifications begin with it too. */
  readonly canonicalBase: string;
  /** The User or Client whose rights select the events; absent if the server itself created the destination. */
  readonly principal?: NativeReference;
}

export const presentationIn = (text: string): DestinationPresentation => JSON.parse(text) as DestinationPresentation;

const CONTENTS = ['full-resource', 'id-only', 'empty'] as const;

/** @throws ServiceError 'unprocessable' that names the element */
export function presentationOf(destination: Resource, profile: string): DestinationPresentation {
  const { topic, content = 'full-resource' } = destination;
  if (typeof topic !== 'string' || !/^\S+$/.test(topic)) {
    throw destinationRefusal('topic', 'must be the canonical URL of the topic whose events are delivered.');
  }
  const known = CONTENTS.find((value) => value === content);
  if (known === undefined) throw destinationRefusal('content', `must be one of ${CONTENTS.join(', ')}.`);
  // Ignoring it silently would send too many events.
  if (destination.filterBy !== undefined)
    throw destinationRefusal(
      'filterBy',
      'is not evaluated by this server, so leave it out: put the condition into fhirPathCriteria of a topic.',
    );
  if (destination.status !== undefined && destination.status !== 'active')
    throw destinationRefusal(
      'status',
      'can only be "active": a destination delivers as long as it is stored. Delete it to end that.',
    );
  return {
    topic,
    content: known,
    includeEntryAction: flagOf(destination, 'includeEntryAction'),
    includeVersionId: flagOf(destination, 'includeVersionId'),
    includeVersionIdInFocusReference: flagOf(destination, 'includeVersionIdInFocusReference'),
    canonicalBase: profile.replace(/\/StructureDefinition\/.*/s, ''),
  };
}

/** Returns the log level of attempts; null if they are not logged. @throws as {@link presentationOf} */
export function attemptLogLevelOf(destination: Resource): AttemptLogLevel | null {
  const { logLevel = 'info' } = destination;
  const levels = Object.keys(ATTEMPT_LOG_METHODS) as AttemptLogLevel[];
  const known = levels.find((level) => level === logLevel);
  if (known === undefined) throw destinationRefusal('logLevel', `must be one of ${levels.join(', ')}.`);
  return flagOf(destination, 'enableLogging') ? known : null;
}

function flagOf(destination: Resource, member: string): boolean {
  const value = destination[member] ?? false;
  if (typeof value !== 'boolean') throw destinationRefusal(member, 'must be true or false.');
  return value;
}

export const destinationRefusal = (member: string, message: string): ServiceError =>
  new ServiceError('destination-invalid', `${member} ${message}`, { expression: `SvcTopicDestination.${member}` });
