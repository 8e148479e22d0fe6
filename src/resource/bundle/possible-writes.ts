import { localKey } from '../../fhir/reference';
import { TransactionConflict } from '../../platform/database/database-error';
import { ServiceError } from '../../platform/errors/service-error';
import { notStored } from '../not-stored';
import { assertMatch } from '../resource-writer';
import { notGranted } from '../rows/row-check';
import { type LockedId, NEW_ID } from '../store/resource-store';
import { EntryFaults } from './entry-faults';
import { type PlannedWrite } from './planned-write';

/** What is hidden from the caller is not there; its id cannot be taken over either (`ResourceWriter.put`). */
export const HIDDEN: LockedId = { current: undefined, ...NEW_ID };

/**
 * Refuses what the held resources do not allow, before anything is written. Later writes of one id are judged by themselves.
 * @throws ServiceError with the faults of all such entries
 */
export function assertPossible(
  writes: readonly PlannedWrite[],
  heldOf: (write: PlannedWrite, key: string) => LockedId | undefined,
): void {
  const faults = new EntryFaults();
  const seen = new Set<string>();
  for (const write of writes) {
    const key = localKey(write.type, write.id);
    if (seen.has(key)) continue;
    seen.add(key);
    faults.atSync(write.index, () => {
      assertOnePossible(write, heldOf(write, key));
    });
  }
  faults.throwIfAny();
}

function assertOnePossible(write: PlannedWrite, held: LockedId | undefined): void {
  const { mode, type, id, options, foundText } = write;
  const current = held?.current;
  if (foundText !== undefined && current?.text !== foundText) {
    throw new TransactionConflict('What a condition found has changed');
  }
  if (mode === 'existing' || mode === 'late') return;
  if (mode === 'patch' && current === undefined) {
    throw notStored(type, id, options.reach?.rows === undefined && (held?.lastVersion ?? 0) > 0);
  }
  assertMatch(options, current);
  if (mode !== 'create' && mode !== 'put') return;
  if (held === HIDDEN) throw notGranted();
  if (mode === 'create' && current !== undefined) throw idIsTaken(write);
}

const idIsTaken = ({ type, id }: PlannedWrite): ServiceError =>
  new ServiceError('duplicate', `${type}/${id} already exists. Use PUT to replace it, or leave the id out.`);
