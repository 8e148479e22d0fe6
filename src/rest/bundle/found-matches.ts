import { Injectable } from '@nestjs/common';
import { ConditionMatches } from '../conditional/condition-matches';
import { ResourceCriteria } from '../../search/run/resource-criteria';
import { type ResourceText } from '../../model/stored-resource';
import { type EntryFaults } from './entry-faults';
import { type Matches } from './entry-identities';
import { type NamedCondition, type WriteIntent, conditionOf } from './write-intent';

/** Finds the matches of all conditions of a transaction: those of its entries, and references by search. */
@Injectable()
export class FoundMatches {
  constructor(
    private readonly criteria: ResourceCriteria,
    private readonly conditions: ConditionMatches,
  ) {}

  async of(intents: readonly WriteIntent[], faults: EntryFaults): Promise<Matches> {
    return new Map([...(await this.ofEntries(intents, faults)), ...(await this.ofLinks(intents, faults))]);
  }

  ofEntries(intents: readonly WriteIntent[], faults: EntryFaults): Promise<Matches> {
    return this.ofEach(intents, faults, ({ condition }) => (condition === undefined ? [] : [condition]));
  }

  ofLinks(intents: readonly WriteIntent[], faults: EntryFaults): Promise<Matches> {
    return this.ofEach(intents, faults, ({ searches, linked }) => searches.map((link) => conditionOf(link, linked)));
  }

  lock(intents: readonly WriteIntent[]): Promise<void> {
    return this.conditions.lock(intents.flatMap(({ condition }) => (condition === undefined ? [] : [condition])));
  }

  /** Each distinct condition is searched once. */
  private async ofEach(
    intents: readonly WriteIntent[],
    faults: EntryFaults,
    conditionsOf: (intent: WriteIntent) => readonly NamedCondition[],
  ): Promise<Matches> {
    const found = new Map<string, readonly ResourceText[]>();
    for (const intent of intents) {
      await faults.at(intent.entry.index, async () => {
        for (const { canonical, type, criteria, reach } of conditionsOf(intent))
          if (!found.has(canonical)) found.set(canonical, await this.criteria.findWithin(reach, type, criteria));
      });
    }
    return found;
  }
}

/** Whether each condition in `b` has the same matches as in `a`. */
export function isSameMatches(a: Matches, b: Matches): boolean {
  return [...b].every(([canonical, matches]) => {
    const before = a.get(canonical) ?? [];
    return before.length === matches.length && matches.every(({ text }, index) => text === before[index]?.text);
  });
}
