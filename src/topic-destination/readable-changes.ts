import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { type GrantedRows } from '../platform/http/granted-rows';
import { EntryAccesses } from '../resource/access/entry-access.registry';
import { type ResourceChange } from '../resource/hooks/resource-change';
import { RowCheck } from '../resource/rows/row-check';
import { RowLimits } from '../resource/rows/row-limits';
import { type WatchedDestination } from './topic-registry';

/** A change, and who would hear of it if he may. */
export interface OfferedChange {
  readonly change: ResourceChange;
  readonly destinations: readonly WatchedDestination[];
}

/** The changes that one principal may read, by their places. */
interface Readable {
  readonly destinationKeysAt: ReadonlyMap<number, readonly number[]>;
  readonly granted: readonly number[];
  /** Places of changes that are granted if their rows are among these. */
  readonly limited: readonly { readonly rows: GrantedRows; readonly places: readonly number[] }[];
}

/** Which destinations may hear of a change: those whose principal may read what is written. */
@Injectable()
export class ReadableChanges {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
  ) {}

  /**
   * For each change the keys of the destinations that hear of it; in its transaction, while its row is what the change
   * wrote. Each principal is asked for once, and rows once for all changes that the same criteria limit.
   */
  async heardBy(offers: readonly OfferedChange[]): Promise<readonly (readonly number[])[]> {
    const heard = offers.map(() => new Set<number>());
    for (const { granted, limited, destinationKeysAt } of await this.readableOf(offers)) {
      const places = [...granted];
      for (const one of limited) places.push(...(await this.storedAmong(one.rows, one.places, offers)));
      for (const place of places) for (const key of destinationKeysAt.get(place) ?? []) heard[place]?.add(key);
    }
    return heard.map((keys) => [...keys]);
  }

  /** As {@link heardBy} for a change that is not written yet; undefined where its row decides. */
  async heardBeforehand(offer: OfferedChange): Promise<readonly number[] | undefined> {
    const readable = await this.readableOf([offer]);
    if (readable.some(({ limited }) => limited.length > 0)) return undefined;
    return [
      ...new Set(
        readable.flatMap(({ granted, destinationKeysAt }) =>
          granted.length > 0 ? (destinationKeysAt.get(0) ?? []) : [],
        ),
      ),
    ];
  }

  private async readableOf(offers: readonly OfferedChange[]): Promise<readonly Readable[]> {
    const readable: Readable[] = [];
    for (const { principal, destinationKeysAt } of byPrincipal(offers)) {
      const places = [...destinationKeysAt.keys()];
      const grants =
        principal === undefined ? { granted: places, limited: [] } : await this.grantsTo(principal, places, offers);
      readable.push({ destinationKeysAt, ...grants });
    }
    return readable;
  }

  /** Row criteria cannot be decided for a deletion, which has no body: only principals without them receive it. */
  private async grantsTo(
    principal: NativeReference,
    places: readonly number[],
    offers: readonly OfferedChange[],
  ): Promise<Pick<Readable, 'granted' | 'limited'>> {
    const granted: number[] = [];
    const limited = new Map<string, { rows: GrantedRows; places: number[] }>();
    const reader = await this.access.readerNamed(principal);
    for (const place of reader === undefined ? [] : places) {
      const change = offers[place]?.change;
      const rows = change === undefined ? undefined : await reader?.rowsOf(change);
      if (rows === 'all') granted.push(place);
      if (rows === undefined || rows === 'all' || change?.current === undefined) continue;
      const name = JSON.stringify(rows);
      const group = limited.get(name) ?? { rows, places: [] };
      group.places.push(place);
      limited.set(name, group);
    }
    return { granted, limited: [...limited.values()] };
  }

  private async storedAmong(
    rows: GrantedRows,
    places: readonly number[],
    offers: readonly OfferedChange[],
  ): Promise<readonly number[]> {
    const limit = await this.limits.of(rows);
    if (limit === undefined) return places;
    const asked = places.flatMap((place) => offers[place]?.change ?? []);
    const beyond = new Set(await this.rows.beyond(limit, asked));
    return places.filter((_place, index) => !beyond.has(index));
  }
}

interface PrincipalOffers {
  readonly principal: NativeReference | undefined;
  readonly destinationKeysAt: Map<number, number[]>;
}

function byPrincipal(offers: readonly OfferedChange[]): Iterable<PrincipalOffers> {
  const groups = new Map<string, PrincipalOffers>();
  for (const [place, { destinations }] of offers.entries()) {
    for (const { destinationKey, principal } of destinations) {
      const name = principal === undefined ? '' : `${principal.resourceType}/${principal.id}`;
      const group = groups.get(name) ?? { principal, destinationKeysAt: new Map<number, number[]>() };
      groups.set(name, group);
      const keys = group.destinationKeysAt.get(place);
      if (keys === undefined) group.destinationKeysAt.set(place, [destinationKey]);
      else keys.push(destinationKey);
    }
  }
  return groups.values();
}
