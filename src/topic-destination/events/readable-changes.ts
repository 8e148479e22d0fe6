import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { type Reader } from '../../resource/access/entry-access';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { type ResourceChange } from '../../resource/hooks/resource-change';
import { principalKeyOf } from '../destinations/destination-principal';
import { ReadableFocus } from './readable-focus';
import { type WatchedDestination } from './topic-registry';
import { addTo } from '../../platform/lists-by-key';

/** A change, with the destinations that receive it if their principal may read the changed resource. */
export interface OfferedChange {
  readonly change: ResourceChange;
  readonly destinations: readonly WatchedDestination[];
}

/** Selects those destinations of a change whose principal may read the changed resource. */
@Injectable()
export class ReadableChanges {
  constructor(
    private readonly access: EntryAccesses,
    private readonly focus: ReadableFocus,
  ) {}

  /**
   * Returns the keys of the destinations that receive each change. It runs in the transaction of the change, after its
   * write. Each principal is looked up once. Changes under the same row criteria share one query.
   */
  async recipientsOf(offers: readonly OfferedChange[]): Promise<readonly (readonly number[])[]> {
    const recipients = new Map(offers.map(({ change }) => [change, new Set<number>()]));
    for (const { principal, keysOf } of byPrincipal(offers)) {
      const reader = principal && (await this.access.decider.readerNamed(principal));
      const readable =
        principal === undefined
          ? keysOf.keys()
          : await this.focus.withinRows(keysOf.keys(), (change) => rowsOfReader(reader, change));
      for (const change of readable) for (const key of keysOf.get(change) ?? []) recipients.get(change)?.add(key);
    }
    return [...recipients.values()].map((keys) => [...keys]);
  }

  /** Like {@link recipientsOf}, before the change is written; undefined if row criteria decide, which need the row. */
  async recipientsBeforeWrite(offer: OfferedChange): Promise<readonly number[] | undefined> {
    const recipients = new Set<number>();
    for (const { principal, keysOf } of byPrincipal([offer])) {
      const rows =
        principal === undefined
          ? 'all'
          : await rowsOfReader(await this.access.decider.readerNamed(principal), offer.change);
      if (rows === undefined) continue;
      if (rows !== 'all') return undefined;
      for (const key of keysOf.get(offer.change) ?? []) recipients.add(key);
    }
    return [...recipients];
  }
}

/**
 * Returns the rows that a principal may read, for a change. A deleted resource has no body, so row criteria cannot
 * decide: only a principal without row criteria receives the deletion.
 */
async function rowsOfReader(reader: Reader | undefined, change: ResourceChange): Promise<GrantedRows | undefined> {
  const rows = await reader?.rowsOf(change);
  return rows === 'all' || change.current !== undefined ? rows : undefined;
}

/** The destinations of one principal, as keys by change. */
interface PrincipalOffers {
  readonly principal: NativeReference | undefined;
  readonly keysOf: Map<ResourceChange, number[]>;
}

function byPrincipal(offers: readonly OfferedChange[]): Iterable<PrincipalOffers> {
  const groups = new Map<string, PrincipalOffers>();
  for (const { change, destinations } of offers) {
    for (const { destinationKey, principal } of destinations) {
      const name = principal === undefined ? '' : principalKeyOf(principal);
      const group = groups.get(name) ?? { principal, keysOf: new Map<ResourceChange, number[]>() };
      groups.set(name, group);
      addTo(group.keysOf, change, destinationKey);
    }
  }
  return groups.values();
}
