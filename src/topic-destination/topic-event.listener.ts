import { Injectable, Logger } from '@nestjs/common';
import { Outbox } from '../delivery/outbox';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/resource-change';
import { type ChangedTexts } from './topic-criteria';
import { TopicRegistry, type WatchedTrigger } from './topic-registry';

/** Turns each change into one event for each destination whose topic it matches, in the change's transaction. */
@Injectable()
@OnResourceChange(undefined)
export class TopicEventListener implements ResourceChangeListener {
  private readonly logger = new Logger(TopicEventListener.name);

  constructor(
    private readonly topics: TopicRegistry,
    private readonly outbox: Outbox,
  ) {}

  async concerns(type: string): Promise<boolean> {
    return (await this.topics.triggersOf(type)).length > 0;
  }

  async onChange(change: ResourceChange): Promise<void> {
    const triggers = await this.topics.triggersOf(change.type);
    const matching = triggers.filter((trigger) => this.matches(trigger, change));
    const { type, id, version, interaction, method } = change;
    const payloadBytes = change.current?.text.length ?? 0;
    // What a destination's principal may read is to be decided here, when the event is captured.
    const destinationKeys = new Set(matching.flatMap(({ destinationKeys: keys }) => keys));
    this.outbox.append(
      [...destinationKeys].map((destinationKey) => ({
        destinationKey,
        type,
        id,
        version,
        interaction,
        method,
        payloadBytes,
      })),
    );
  }

  /** An event too many is harmless, one too few is not: what cannot be decided matches. */
  private matches({ interactions, criteria, topicUrl }: WatchedTrigger, change: ResourceChange): boolean {
    if (!interactions.includes(change.interaction)) return false;
    if (criteria === undefined) return true;
    try {
      return criteria(textsOf(change));
    } catch {
      this.logger.warn(
        `A criterion of ${topicUrl} failed on ${change.type}/${change.id}: the change counts as a match`,
      );
      return true;
    }
  }
}

const textsOf = ({ current, previous }: ResourceChange): ChangedTexts => ({
  ...(current === undefined ? {} : { current: current.text }),
  ...(previous === undefined ? {} : { previous: previous.text }),
});
