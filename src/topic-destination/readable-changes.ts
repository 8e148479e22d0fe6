import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../fhir/types';
import { EntryAccesses } from '../resource/entry-access.registry';
import { type ResourceChange } from '../resource/resource-change';
import { RowCheck } from '../resource/rows/row-check';
import { RowLimits } from '../resource/rows/row-limits';
import { type WatchedDestination } from './topic-registry';

/** Which destinations may hear of a change: those whose principal may read what is written, in its transaction. */
@Injectable()
export class ReadableChanges {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
  ) {}

  /** Principals are asked once each. */
  async heardBy(destinations: Iterable<WatchedDestination>, change: ResourceChange): Promise<readonly number[]> {
    const decided = new Map<string, boolean>();
    const heard = new Set<number>();
    for (const { destinationKey, principal } of destinations) {
      const name = principal === undefined ? '' : `${principal.resourceType}/${principal.id}`;
      const mayRead = decided.get(name) ?? (principal === undefined || (await this.mayRead(principal, change)));
      decided.set(name, mayRead);
      if (mayRead) heard.add(destinationKey);
    }
    return [...heard];
  }

  /** Of a deletion nothing is left that rows could be told by: only principals without a limit hear of it. */
  private async mayRead(principal: NativeReference, change: ResourceChange): Promise<boolean> {
    const rows = await this.access.readableBy(principal, change);
    if (rows === undefined || rows === 'all') return rows === 'all';
    return change.current !== undefined && this.rows.isGranted(await this.limits.of(rows), change);
  }
}
