import { Injectable, Logger } from '@nestjs/common';
import { type DestinationRuntime, Destinations } from '../../delivery/destinations';
import { type NativeReference, type Resource } from '../../fhir/types';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { Slices } from '../../platform/time/slices';
import { ResourceReader } from '../../store/resource-reader';
import { type StoredResource } from '../../model/stored-resource';
import { presentationIn } from '../destinations/destination-presentation';
import { type Topic, type TopicTrigger, canonicalsOf, topicOf } from '../topics/topic';
import { addTo } from '../../platform/lists-by-key';

export interface WatchedDestination {
  readonly destinationKey: number;
  readonly principal: NativeReference | undefined;
}

export interface WatchedTrigger extends TopicTrigger {
  readonly topicUrl: string;
  readonly destinations: readonly WatchedDestination[];
}

/**
 * The triggers of active topics that have destinations, by resource type. They are cached, and loaded again when the
 * registry epoch (a number that each change of topics or destinations raises) differs from that of the request.
 */
@Injectable()
export class TopicRegistry {
  private readonly cached: CachedRegistry<ReadonlyMap<string, readonly WatchedTrigger[]>>;
  private readonly logger = new Logger(TopicRegistry.name);
  /**
   * Topics by their stored text, so that criteria are compiled only once. The version is no key: after a rollback, a
   * version that a transaction already loaded may get another text.
   */
  private read = new Map<string, Topic | undefined>();

  constructor(
    epoch: RegistryEpoch,
    private readonly reader: ResourceReader,
    private readonly destinations: Destinations,
    private readonly slices: Slices,
  ) {
    this.cached = new CachedRegistry(epoch, () => this.load());
  }

  /** Returns the triggers that changes of `type` may match. Most types have none. */
  async triggersOf(type: string): Promise<readonly WatchedTrigger[]> {
    return (await this.cached.get()).get(type) ?? [];
  }

  private async load(): Promise<ReadonlyMap<string, readonly WatchedTrigger[]>> {
    const stored = await this.reader.list('SvcSubscriptionTopic');
    const destinations = await this.destinations.list();
    const topics = new Map<string, Topic | undefined>();
    const pause = this.slices.pauses();
    for (const one of stored) {
      topics.set(one.text, this.read.has(one.text) ? this.read.get(one.text) : this.topicOf(one));
      await pause(); // compiling criteria is slow
    }
    this.read = topics;
    return triggersByType(topics.values(), destinations);
  }

  /** Reads a topic; undefined if that fails. No release could have stored one, but it must not block all writes. */
  private topicOf({ id, text }: StoredResource): Topic | undefined {
    try {
      return topicOf(JSON.parse(text) as Resource);
    } catch {
      this.logger.error(`SvcSubscriptionTopic/${id} cannot be read: it does not fire. Store it again`);
      return undefined;
    }
  }
}

export function triggersByType(
  topics: Iterable<Topic | undefined>,
  destinations: readonly Pick<DestinationRuntime, 'destinationKey' | 'presentation'>[],
): ReadonlyMap<string, readonly WatchedTrigger[]> {
  const watching = new Map<string, WatchedDestination[]>();
  for (const { destinationKey, presentation } of destinations) {
    const { topic, principal } = presentationIn(presentation);
    addTo(watching, topic, { destinationKey, principal });
  }
  const byType = new Map<string, WatchedTrigger[]>();
  for (const topic of topics) {
    if (topic?.isActive !== true) continue;
    const ofTopic = canonicalsOf(topic).flatMap((canonical) => watching.get(canonical) ?? []);
    if (ofTopic.length === 0) continue;
    for (const trigger of topic.triggers)
      addTo(byType, trigger.type, { ...trigger, topicUrl: topic.url, destinations: ofTopic });
  }
  return byType;
}
