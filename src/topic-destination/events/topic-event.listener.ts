import { Injectable, Logger } from '@nestjs/common';
import { type NewEvent, Outbox } from '../../delivery/outbox';
import { isRecordOfAuditUse } from '../../audit/audit-codes';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { Slices } from '../../platform/time/slices';
import { type StatementPart } from '../../platform/database/statement';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../resource/hooks/resource-change';
import { type OfferedChange, ReadableChanges } from './readable-changes';
import { ReadableCriteria } from './readable-criteria';
import { TopicRegistry, type WatchedTrigger } from './topic-registry';

const WARNING_INTERVAL_MILLISECONDS = 60_000;

interface MatchedChange extends OfferedChange {
  /** Keys of the destinations for which a criterion is true. For the others, it could not be evaluated. */
  readonly decided: ReadonlySet<number>;
}

/** Records an event for each change and destination whose topic it matches, in the transaction of the change. */
@Injectable()
@OnResourceChange(undefined)
export class TopicEventListener implements ResourceChangeListener {
  private readonly logger = new Logger(TopicEventListener.name);
  private readonly warnedAt = new WeakMap<WatchedTrigger, number>();

  constructor(
    private readonly topics: TopicRegistry,
    private readonly readable: ReadableChanges,
    private readonly criteria: ReadableCriteria,
    private readonly outbox: Outbox,
    private readonly epoch: RegistryEpoch,
    private readonly slices: Slices,
  ) {}

  async concerns(type: string): Promise<boolean> {
    return (await this.topics.triggersOf(type)).length > 0;
  }

  onChange(change: ResourceChange): Promise<void> {
    return this.onChanges([change]);
  }

  async onChanges(changes: readonly ResourceChange[]): Promise<void> {
    // The rights epoch (each change of rights raises it) is read before any decision. The statement that stores the
    // events compares it, and fails if rights have changed since.
    const rights = await this.epoch.rightsToHold();
    const matched: MatchedChange[] = [];
    const pause = this.slices.pauses();
    for (const change of changes) {
      await pause();
      matched.push(...(await this.matched(change)));
    }
    if (matched.length === 0) return;
    const recipients = await this.readable.recipientsOf(matched);
    this.outbox.append(matched.flatMap((one, place) => eventsOf(one, recipients[place] ?? [], rights)));
  }

  async partsOf(change: ResourceChange): Promise<readonly StatementPart[] | undefined> {
    const rights = await this.epoch.rightsToHold();
    const [matched] = await this.matched(change);
    if (matched === undefined) return [];
    const recipients = await this.readable.recipientsBeforeWrite(matched);
    if (recipients === undefined) return undefined;
    return recipients.length === 0 ? [] : [this.outbox.partOf(eventsOf(matched, recipients, rights))];
  }

  /**
   * Returns the change with the destinations whose topics it matches; an empty list if there are none. A criterion that
   * cannot be evaluated counts as a match: an unnecessary event is harmless, a lost event is not.
   */
  private async matched(change: ResourceChange): Promise<readonly MatchedChange[]> {
    if (isRecordOfAuditUse(change.current?.value)) return [];
    const concerned = (await this.topics.triggersOf(change.type)).filter(({ interactions }) =>
      interactions.includes(change.interaction),
    );
    const verdicts = (await this.criteria.verdictsOf(concerned, change)).filter(({ decision }) => decision !== false);
    const destinations = verdicts.flatMap((verdict) => verdict.destinations);
    if (destinations.length === 0) return [];
    for (const { trigger, decision } of verdicts) if (decision === undefined) this.warn(trigger);
    const certain = verdicts.filter(({ decision }) => decision === true).flatMap((verdict) => verdict.destinations);
    return [{ change, destinations, decided: new Set(certain.map(({ destinationKey }) => destinationKey)) }];
  }

  /** Logs a warning, at most once a minute for each trigger, without any data of the resource. */
  private warn(trigger: WatchedTrigger): void {
    const now = performance.now();
    if (now - (this.warnedAt.get(trigger) ?? -Infinity) < WARNING_INTERVAL_MILLISECONDS) return;
    this.warnedAt.set(trigger, now);
    this.logger.warn(
      `A criterion of ${trigger.topicUrl} on ${trigger.type} could not be evaluated, or takes too long: such changes count as matches`,
    );
  }
}

function eventsOf(
  { change, decided }: MatchedChange,
  recipients: readonly number[],
  rightsEpoch: number | null,
): NewEvent[] {
  const { type, id, version, interaction, method, current } = change;
  const payloadBytes = current?.text.length ?? 0;
  return recipients.map((destinationKey) => ({
    destinationKey,
    type,
    id,
    version,
    interaction,
    method,
    payloadBytes,
    isUndecided: !decided.has(destinationKey),
    rightsEpoch,
  }));
}
