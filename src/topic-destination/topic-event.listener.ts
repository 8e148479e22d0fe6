import { Injectable, Logger } from '@nestjs/common';
import { Outbox } from '../delivery/outbox';
import { isRecordOfAuditUse } from '../audit/audit-codes';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/resource-change';
import { CriteriaEvaluation } from './criteria-evaluation';
import { ReadableChanges } from './readable-changes';
import { type ChangedTexts } from './topic-criteria';
import { TopicRegistry, type WatchedTrigger } from './topic-registry';

/** Turns each change into one event for each destination whose topic it matches, in the change's transaction. */
@Injectable()
@OnResourceChange(undefined)
export class TopicEventListener implements ResourceChangeListener {
  private readonly logger = new Logger(TopicEventListener.name);

  constructor(
    private readonly topics: TopicRegistry,
    private readonly readable: ReadableChanges,
    private readonly outbox: Outbox,
    private readonly evaluation: CriteriaEvaluation,
  ) {}

  async concerns(type: string): Promise<boolean> {
    return (await this.topics.triggersOf(type)).length > 0;
  }

  async onChange(change: ResourceChange): Promise<void> {
    if (isRecordOfAuditUse(change.current?.value)) return;
    const triggers = await this.topics.triggersOf(change.type);
    const matching = this.matching(triggers, change);
    const { type, id, version, interaction, method } = change;
    const payloadBytes = change.current?.text.length ?? 0;
    const destinationKeys = await this.readable.heardBy(
      matching.flatMap(({ destinations }) => destinations),
      change,
    );
    this.outbox.append(
      destinationKeys.map((destinationKey) => ({
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
  private matching(triggers: readonly WatchedTrigger[], change: ResourceChange): readonly WatchedTrigger[] {
    const concerned = triggers.filter(({ interactions }) => interactions.includes(change.interaction));
    const certain = concerned.filter(({ criteria }) => criteria === undefined);
    const asked = concerned.flatMap((trigger) =>
      trigger.criteria === undefined ? [] : [{ trigger, criteria: trigger.criteria }],
    );
    if (asked.length === 0) return certain;
    const decisions = this.evaluation.decide(
      asked.map(({ criteria }) => criteria),
      textsOf(change),
    );
    const matching = asked.filter((_one, index) => decisions[index] !== false).map(({ trigger }) => trigger);
    const open = asked.filter((_one, index) => decisions[index] === undefined);
    for (const { trigger } of open) {
      this.logger.warn(
        `A criterion of ${trigger.topicUrl} failed on ${change.type}/${change.id}, or takes too long: the change counts as a match`,
      );
    }
    return [...certain, ...matching];
  }
}

const textsOf = ({ current, previous }: ResourceChange): ChangedTexts => ({
  ...(current === undefined ? {} : { current: current.text }),
  ...(previous === undefined ? {} : { previous: previous.text }),
});
