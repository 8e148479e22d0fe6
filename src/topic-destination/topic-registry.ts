import { Injectable, Logger } from '@nestjs/common';
import { Destinations } from '../delivery/destinations';
import { type NativeReference, type Resource } from '../fhir/types';
import { CachedRegistry, RegistryEpoch } from '../platform/database/registry-epoch';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ResourceReader } from '../resource/resource-reader';
import { type StoredResource } from '../resource/stored-resource';
import { type DestinationPresentation } from './destination-presentation';
import { type Topic, type TopicTrigger, isNamedBy, topicOf } from './topic';

export interface WatchedDestination {
  readonly destinationKey: number;
  readonly principal: NativeReference | undefined;
}

/** An active trigger and who gets its events. */
export interface WatchedTrigger extends TopicTrigger {
  readonly topicUrl: string;
  readonly destinations: readonly WatchedDestination[];
}

/** Active topics that have destinations, by resource type, as of the epoch of the request. */
@Injectable()
export class TopicRegistry {
  private readonly cached: CachedRegistry<ReadonlyMap<string, readonly WatchedTrigger[]>>;
  private readonly logger = new Logger(TopicRegistry.name);
  /**
   * By their texts: criteria are compiled once, however often the registry is loaded. Not by their versions: a transaction
   * that loads its own topic and is rolled back gives the version to another text.
   */
  private read = new Map<string, Topic | undefined>();

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly reader: ResourceReader,
    private readonly destinations: Destinations,
  ) {
    this.cached = new CachedRegistry(epoch, unitOfWork, () => this.load());
  }

  /** The triggers that changes of `type` may match; none for most types. */
  async triggersOf(type: string): Promise<readonly WatchedTrigger[]> {
    return (await this.cached.get()).get(type) ?? [];
  }

  private async load(): Promise<ReadonlyMap<string, readonly WatchedTrigger[]>> {
    const stored = await this.reader.list('SvcSubscriptionTopic');
    const destinations = (await this.destinations.list()).map(({ destinationKey, presentation }) => {
      const { topic, principal } = JSON.parse(presentation) as DestinationPresentation;
      return { destinationKey, topic, principal };
    });
    const byType = new Map<string, WatchedTrigger[]>();
    this.read = new Map(
      stored.map((one) => [one.text, this.read.has(one.text) ? this.read.get(one.text) : this.topicOf(one)]),
    );
    for (const topic of this.read.values()) {
      if (topic?.isActive !== true) continue;
      const watching = destinations.filter((destination) => isNamedBy(topic, destination.topic));
      if (watching.length === 0) continue;
      for (const trigger of topic.triggers) {
        byType.set(trigger.type, [
          ...(byType.get(trigger.type) ?? []),
          { ...trigger, topicUrl: topic.url, destinations: watching },
        ]);
      }
    }
    return byType;
  }

  /** One topic that no release could have stored must not stop the writes of all. */
  private topicOf({ id, text }: StoredResource): Topic | undefined {
    try {
      return topicOf(JSON.parse(text) as Resource);
    } catch {
      this.logger.error(`SvcSubscriptionTopic/${id} cannot be read: it does not fire. Store it again`);
      return undefined;
    }
  }
}
