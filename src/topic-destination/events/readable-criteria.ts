import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { type ResourceName } from '../../model/stored-resource';
import { type ResourceChange } from '../../resource/hooks/resource-change';
import { ResourceReader } from '../../store/resource-reader';
import { CriteriaEvaluation, type Decision, type LoadReferences, WriteTime } from '../criteria/criteria-evaluation';
import { ReadableFocus } from './readable-focus';
import { principalKeyOf } from '../destinations/destination-principal';
import { textsOf } from '../criteria/reference-lookup';
import { localKey } from '../../fhir/reference';
import { type WatchedDestination, type WatchedTrigger } from './topic-registry';

interface Watch {
  readonly trigger: WatchedTrigger;
  readonly destinations: readonly WatchedDestination[];
}

export interface Verdict extends Watch {
  readonly decision: Decision;
}

/**
 * Evaluates triggers on a change. For each destination, `resolve()` in a criterion finds only resources that its
 * principal may search.
 */
@Injectable()
export class ReadableCriteria {
  constructor(
    private readonly evaluation: CriteriaEvaluation,
    private readonly focus: ReadableFocus,
    private readonly reader: ResourceReader,
  ) {}

  async verdictsOf(triggers: readonly WatchedTrigger[], change: ResourceChange): Promise<readonly Verdict[]> {
    const watches = triggers.map((trigger): Watch => ({ trigger, destinations: trigger.destinations }));
    const read: ResourceName[] = [];
    const time = new WriteTime();
    const verdicts = await this.decide(watches, change, time, async (wanted) => {
      const texts = await textsOf(this.reader, wanted);
      read.push(...wanted.filter(({ type, id }) => texts.has(localKey(type, id))));
      return texts;
    });
    return read.length === 0 ? verdicts : this.asPrincipalsSee(verdicts, read, change, time);
  }

  /**
   * Evaluates criteria again for principals who may not search all resources that `resolve()` read. For them, the
   * hidden resources count as not stored. Otherwise the events of many criteria could disclose the hidden data letter
   * by letter.
   */
  private async asPrincipalsSee(
    verdicts: readonly Verdict[],
    read: readonly ResourceName[],
    change: ResourceChange,
    time: WriteTime,
  ): Promise<readonly Verdict[]> {
    const resolving = verdicts.filter(({ trigger }) => /\bresolve\b/.test(trigger.expression ?? ''));
    let seen = verdicts;
    for (const principal of principalsOf(resolving)) {
      if ((await this.focus.reachable(read, principal)).size === read.length) continue;
      const own = resolving.map(({ trigger }) => ({
        trigger,
        destinations: trigger.destinations.filter((one) => isOf(one, principal)),
      }));
      const others = seen.map((one) =>
        resolving.some(({ trigger }) => trigger === one.trigger)
          ? { ...one, destinations: one.destinations.filter((destination) => !isOf(destination, principal)) }
          : one,
      );
      const load: LoadReferences = async (wanted) =>
        textsOf(this.reader, [...(await this.focus.reachable(wanted, principal))]);
      seen = [...others, ...(await this.decide(own, change, time, load))];
    }
    return seen;
  }

  private async decide(
    watches: readonly Watch[],
    { current, previous }: ResourceChange,
    time: WriteTime,
    load: LoadReferences,
  ): Promise<readonly Verdict[]> {
    const asked = watches.flatMap(({ trigger: { criteria }, destinations }, place) =>
      criteria === undefined || destinations.length === 0 ? [] : [{ place, criteria }],
    );
    const decided = new Map<number, Decision>();
    if (asked.length > 0) {
      const values = { current: current?.value, previous: previous?.value };
      const texts = { current: current?.text, previous: previous?.text, values };
      const criteria = asked.map((one) => one.criteria);
      const decisions = await this.evaluation.decide(criteria, texts, load, time);
      for (const [at, { place }] of asked.entries()) decided.set(place, decisions[at]);
    }
    return watches.map((watch, place) => ({ ...watch, decision: decided.has(place) ? decided.get(place) : true }));
  }
}

const isOf = ({ principal }: WatchedDestination, other: NativeReference): boolean =>
  principal !== undefined && principalKeyOf(principal) === principalKeyOf(other);

/** Returns each principal of the destinations once. A destination of the server has none, and sees everything. */
function principalsOf(verdicts: readonly Verdict[]): Iterable<NativeReference> {
  const principals = verdicts.flatMap(({ destinations }) => destinations.flatMap(({ principal }) => principal ?? []));
  return new Map(principals.map((one) => [principalKeyOf(one), one])).values();
}
