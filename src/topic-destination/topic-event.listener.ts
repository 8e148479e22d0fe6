import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type NewEvent, Outbox } from '../delivery/outbox';
import { isRecordOfAuditUse } from '../audit/audit-codes';
import { localKey } from '../fhir/reference';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { type StatementPart } from '../platform/database/statement-part';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from '../resource/resource-change';
import { ResourceReader } from '../resource/resource-reader';
import { ChangedTexts } from './changed-texts';
import { CriteriaEvaluation, type Decision, type LoadReferences } from './criteria-evaluation';
import { type OfferedChange, ReadableChanges } from './readable-changes';
import { TopicRegistry, type WatchedTrigger } from './topic-registry';

const WARNING_INTERVAL_MILLISECONDS = 60_000;

/** How many changes may be looked at before others get their turn: most take some microseconds. */
const CHANGES_A_TURN = 50;

/** A change that matches, and the destinations that it matches for. */
interface MatchedChange extends OfferedChange {
  /** Keys of destinations of which it is certain. */
  readonly decided: ReadonlySet<number>;
}

/** Turns each change into one event for each destination whose topic it matches, in the change's transaction. */
@Injectable()
@OnResourceChange(undefined)
export class TopicEventListener implements ResourceChangeListener {
  private readonly logger = new Logger(TopicEventListener.name);
  private readonly warnedAt = new WeakMap<WatchedTrigger, number>();

  constructor(
    private readonly topics: TopicRegistry,
    private readonly readable: ReadableChanges,
    private readonly outbox: Outbox,
    private readonly evaluation: CriteriaEvaluation,
    private readonly reader: ResourceReader,
    private readonly epoch: RegistryEpoch,
  ) {}

  async concerns(type: string): Promise<boolean> {
    return (await this.topics.triggersOf(type)).length > 0;
  }

  onChange(change: ResourceChange): Promise<void> {
    return this.onChanges([change]);
  }

  async onChanges(changes: readonly ResourceChange[]): Promise<void> {
    // Before anything is decided: the statement that stores the events compares.
    const rights = await this.epoch.rightsToHold();
    const matched: MatchedChange[] = [];
    for (const [index, change] of changes.entries()) {
      if ((index + 1) % CHANGES_A_TURN === 0) await nextTurn();
      matched.push(...(await this.matched(change)));
    }
    if (matched.length === 0) return;
    const heard = await this.readable.heardBy(matched);
    this.outbox.append(matched.flatMap((one, place) => eventsOf(one, heard[place] ?? [], rights)));
  }

  async partsOf(change: ResourceChange): Promise<readonly StatementPart[] | undefined> {
    const rights = await this.epoch.rightsToHold();
    const [matched] = await this.matched(change);
    if (matched === undefined) return [];
    const heard = await this.readable.heardBeforehand(matched);
    if (heard === undefined) return undefined;
    return heard.length === 0 ? [] : [this.outbox.partOf(eventsOf(matched, heard, rights))];
  }

  /** At most one; none where no destination would hear of it. An event too many is harmless, one too few is not: what cannot be decided matches. */
  private async matched(change: ResourceChange): Promise<readonly MatchedChange[]> {
    if (isRecordOfAuditUse(change.current?.value)) return [];
    const triggers = await this.topics.triggersOf(change.type);
    const { matching, undecided } = await this.matching(triggers, change);
    const destinations = [...matching, ...undecided].flatMap((trigger) => trigger.destinations);
    if (destinations.length === 0) return [];
    const decided = matching.flatMap((trigger) => trigger.destinations.map(({ destinationKey }) => destinationKey));
    return [{ change, destinations, decided: new Set(decided) }];
  }

  private async matching(
    triggers: readonly WatchedTrigger[],
    change: ResourceChange,
  ): Promise<{ readonly matching: readonly WatchedTrigger[]; readonly undecided: readonly WatchedTrigger[] }> {
    const concerned = triggers.filter(({ interactions }) => interactions.includes(change.interaction));
    const certain = concerned.filter(({ criteria }) => criteria === undefined);
    const asked = concerned.flatMap((trigger) =>
      trigger.criteria === undefined ? [] : [{ trigger, criteria: trigger.criteria }],
    );
    if (asked.length === 0) return { matching: certain, undecided: [] };
    const decisions = await this.evaluation.decide(
      asked.map(({ criteria }) => criteria),
      new ChangedTexts(change.current?.text, change.previous?.text),
      this.load,
    );
    const of = (decision: Decision): WatchedTrigger[] =>
      asked.filter((_one, index) => decisions[index] === decision).map(({ trigger }) => trigger);
    const undecided = of(undefined);
    for (const trigger of undecided) this.warn(trigger);
    return { matching: [...certain, ...of(true)], undecided };
  }

  /** Once a minute for each trigger, and without a word about the resource. */
  private warn(trigger: WatchedTrigger): void {
    const now = performance.now();
    if (now - (this.warnedAt.get(trigger) ?? -Infinity) < WARNING_INTERVAL_MILLISECONDS) return;
    this.warnedAt.set(trigger, now);
    this.logger.warn(
      `A criterion of ${trigger.topicUrl} on ${trigger.type} could not be evaluated, or takes too long: such changes count as matches`,
    );
  }

  /** By the connection of the transaction, so what it wrote itself is seen. */
  private readonly load: LoadReferences = async (wanted) => {
    const texts = new Map<string, string>();
    for (const type of new Set(wanted.map((one) => one.type))) {
      const ids = wanted.filter((one) => one.type === type).map(({ id }) => id);
      for (const { id, text } of await this.reader.findMany(type, ids)) texts.set(localKey(type, id), text);
    }
    return texts;
  };
}

function eventsOf(
  { change, decided }: MatchedChange,
  heard: readonly number[],
  rightsEpoch: number | null,
): NewEvent[] {
  const { type, id, version, interaction, method, current } = change;
  const payloadBytes = current?.text.length ?? 0;
  return heard.map((destinationKey) => ({
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
