import { Injectable } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { notGranted, RowCheck } from '../rows/row-check';
import { type RowLimit } from '../rows/row-limit';
import { type LockedId } from '../store/resource-store';
import { EntryFaults } from './entry-faults';
import { type PlannedWrite } from './planned-write';

/** Which writes of a set keep to the rows that are granted to them: one look for all that share a grant. */
@Injectable()
export class GrantedWrites {
  constructor(private readonly rows: RowCheck) {}

  /** Writes whose resource the caller may not see, or that was deleted. */
  async hiddenAmong(
    writes: readonly PlannedWrite[],
    held: ReadonlyMap<string, LockedId>,
  ): Promise<ReadonlySet<PlannedWrite>> {
    const hidden = new Set<PlannedWrite>();
    for (const [limit, limited] of byLimit(writes)) {
      const known = limited.filter(({ type, id }) => (held.get(localKey(type, id))?.lastVersion ?? 0) > 0);
      for (const place of await this.rows.beyond(limit, known)) {
        const write = known[place];
        if (write !== undefined) hidden.add(write);
      }
    }
    return hidden;
  }

  /** @throws ServiceError 'forbidden' naming each entry that has stored what is not granted */
  async assertAll(stored: readonly PlannedWrite[]): Promise<void> {
    const faults = new EntryFaults();
    for (const [limit, limited] of byLimit(stored)) {
      for (const place of await this.rows.beyond(limit, limited)) {
        faults.atSync(limited[place]?.index ?? 0, () => {
          throw notGranted();
        });
      }
    }
    faults.throwIfAny();
  }
}

function byLimit(writes: readonly PlannedWrite[]): ReadonlyMap<RowLimit, readonly PlannedWrite[]> {
  const groups = new Map<RowLimit, PlannedWrite[]>();
  for (const write of writes) {
    const limit = write.options.reach?.rows;
    if (limit === undefined) continue;
    const group = groups.get(limit);
    if (group === undefined) groups.set(limit, [write]);
    else group.push(write);
  }
  return groups;
}
