import { Injectable } from '@nestjs/common';
import { type Condition } from '../conditional/condition';
import { ConditionMatches } from '../conditional/condition-matches';
import { ResourceCriteria } from '../search/resource-criteria';
import { type ResourceText } from '../stored-resource';
import { atEntry, atEntrySync } from './entry-error';
import { type Matches } from './entry-identities';
import { type WriteIntent, conditionOf, isConditional } from './write-intent';

/** Searches what the conditions of a transaction find: those of its entries, and references by search. */
@Injectable()
export class FoundMatches {
  constructor(
    private readonly criteria: ResourceCriteria,
    private readonly conditions: ConditionMatches,
  ) {}

  /** Each distinct condition is searched once. */
  async of(intents: readonly WriteIntent[]): Promise<Matches> {
    return new Map([...(await this.ofEntries(intents)), ...(await this.ofLinks(intents))]);
  }

  async ofEntries(intents: readonly WriteIntent[]): Promise<Matches> {
    const found = new Map<string, readonly ResourceText[]>();
    for (const { entry, condition } of intents) {
      if (condition === undefined || found.has(condition.canonical)) continue;
      found.set(condition.canonical, await atEntry(entry.index, () => this.find(condition)));
    }
    return found;
  }

  async ofLinks(intents: readonly WriteIntent[]): Promise<Matches> {
    const found = new Map<string, readonly ResourceText[]>();
    for (const { entry, links, granted } of intents) {
      for (const { link } of links.flat()) {
        if (!isConditional(link)) continue;
        const condition = atEntrySync(entry.index, () => conditionOf(link, granted));
        const { canonical } = condition;
        if (!found.has(canonical)) found.set(canonical, await atEntry(entry.index, () => this.find(condition)));
      }
    }
    return found;
  }

  /** Puts whoever writes under the same conditions in line, all at once and in one order. */
  lock(intents: readonly WriteIntent[]): Promise<void> {
    return this.conditions.lock(intents.flatMap(({ condition }) => (condition === undefined ? [] : [condition])));
  }

  private find({ type, criteria, limit }: Condition): Promise<ResourceText[]> {
    return this.criteria.find(type, criteria, 2, limit);
  }
}

/** Whether the same conditions find the same resources in both. */
export function isSameMatches(a: Matches, b: Matches): boolean {
  return [...b].every(([canonical, matches]) => {
    const before = a.get(canonical) ?? [];
    return before.length === matches.length && matches.every(({ text }, index) => text === before[index]?.text);
  });
}
