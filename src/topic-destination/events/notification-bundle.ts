import { type BatchOrigin, type DeliveryBatch, type DeliveryEvent } from '../../delivery/notification-renderer';
import { localKey } from '../../fhir/reference';
import { type DestinationPresentation } from '../destinations/destination-presentation';

/** An event with the text of its version, unless that is a deletion. */
export interface RenderedEvent extends DeliveryEvent {
  readonly text?: string | undefined;
}

/**
 * Returns the body of a webhook request: a Bundle of type history, with a SvcSubscriptionStatus as its first entry and
 * then an entry for each event. Stored texts are inserted unchanged. The same input gives the same bytes.
 */
export function notificationBundle(
  batch: Pick<DeliveryBatch, 'destinationId' | 'createdAt' | 'firstNumber' | 'origin'>,
  events: readonly RenderedEvent[],
  presentation: DestinationPresentation,
  baseUrl: string,
): string {
  const entries = presentation.content === 'empty' ? [] : events.map((event) => entryOf(event, presentation, baseUrl));
  const head = JSON.stringify({ resourceType: 'Bundle', type: 'history', timestamp: batch.createdAt.toISOString() });
  return `${head.slice(0, -1)},"entry":[${[statusEntryOf(batch, events, presentation), ...entries].join(',')}]}`;
}

function statusEntryOf(
  { destinationId, firstNumber, origin }: Pick<DeliveryBatch, 'destinationId' | 'firstNumber' | 'origin'>,
  events: readonly RenderedEvent[],
  presentation: DestinationPresentation,
): string {
  const { topic, includeVersionIdInFocusReference } = presentation;
  const notificationEvent = events.map(({ type, id, version, isUndecided, correlationId }, index) => ({
    extension: isUndecided ? [{ url: extensionUrl('event-undecided', presentation), valueBoolean: true }] : undefined,
    eventNumber: firstNumber + index,
    focus: { reference: `${localKey(type, id)}${includeVersionIdInFocusReference ? `/_history/${version}` : ''}` },
    correlationId,
  }));
  const resource = {
    resourceType: 'SvcSubscriptionStatus',
    extension: origin === null ? undefined : [generationExtension(origin, presentation)],
    status: 'active',
    type: 'event-notification',
    // The sample of `$test` has no event, and FHIR allows no empty arrays.
    notificationEvent: notificationEvent.length === 0 ? undefined : notificationEvent,
    topic,
    'topic-destination': { reference: localKey('SvcTopicDestination', destinationId) },
  };
  return JSON.stringify({ resource });
}

const generationExtension = ({ generation }: BatchOrigin, presentation: DestinationPresentation): object => ({
  url: extensionUrl('delivery-generation', presentation),
  valueUuid: `urn:uuid:${generation}`,
});

function entryOf(event: RenderedEvent, presentation: DestinationPresentation, baseUrl: string): string {
  const key = localKey(event.type, event.id);
  const extension = extensionsOf(event, presentation);
  const entry = JSON.stringify({
    extension: extension.length === 0 ? undefined : extension,
    fullUrl: `${baseUrl}/fhir/${key}`,
    request: requestOf(event),
  });
  return presentation.content === 'full-resource' && event.text !== undefined
    ? `${entry.slice(0, -1)},"resource":${event.text}}`
    : entry;
}

/** Returns the request of the version. A PATCH is shown as the PUT of its result, as in a history of FHIR R4. */
function requestOf({ method, type, id }: RenderedEvent): { method: string; url: string } {
  if (method === 'POST') return { method, url: `/fhir/${type}` };
  return { method: method === 'DELETE' ? method : 'PUT', url: `/fhir/${localKey(type, id)}` };
}

function extensionsOf({ interaction, version }: RenderedEvent, presentation: DestinationPresentation): object[] {
  const extensions: object[] = [];
  if (presentation.includeEntryAction)
    extensions.push({ url: extensionUrl('bundle-entryActionCode', presentation), valueCode: interaction });
  if (presentation.includeVersionId)
    extensions.push({ url: extensionUrl('bundle-entryVersionId', presentation), valueId: String(version) });
  return extensions;
}

const extensionUrl = (name: string, { canonicalBase }: DestinationPresentation): string =>
  `${canonicalBase}/StructureDefinition/${name}`;
