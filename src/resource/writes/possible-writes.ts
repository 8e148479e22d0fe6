import { TransactionConflict } from '../../platform/database/database-error';
import { ServiceError } from '../../platform/errors/service-error';
import { notStored } from '../../store/not-stored';
import { notGranted } from '../rows/row-check';
import { type LockedId, NEW_ID } from '../../store/resource-store';
import { type StoredResource } from '../../model/stored-resource';
import { type Write, type WriteConditions } from './write';

/** The state of an id that is not in use and never was. */
export const UNUSED: LockedId = { current: undefined, ...NEW_ID };

/**
 * The state of a resource that is hidden from the caller: it counts as missing. Writes of its id are refused, since
 * they would reveal its history.
 */
export const HIDDEN: LockedId = { ...UNUSED };

/**
 * Checks that the stored state allows the write.
 * @throws ServiceError if it does not; TransactionConflict if a condition found another text than the locked one
 */
export function assertPossible(write: Write, held: LockedId): void {
  const { mode, type, id, foundText } = write;
  const { current, lastVersion } = held;
  if (foundText !== undefined && current?.text !== foundText) {
    throw new TransactionConflict('The matches of a condition have changed');
  }
  if (mode === 'late') return;
  if (current === undefined && (mode === 'patch' || mode === 'existing')) throw notStored(type, id, lastVersion > 0);
  if (mode === 'existing') return;
  assertMatch(write, current);
  if (mode !== 'create' && mode !== 'put') return;
  if (held === HIDDEN) throw notGranted();
  if (mode === 'create' && current !== undefined) {
    throw new ServiceError('id-taken', `${type}/${id} already exists. Use PUT to replace it, or leave the id out.`);
  }
}

/** @throws ServiceError 'precondition-failed' if the stored version is not the required one */
export function assertMatch({ ifMatch, ifNoneMatch }: WriteConditions, current: StoredResource | undefined): void {
  const isNamed = (versions: readonly number[] | '*'): boolean =>
    current !== undefined && (versions === '*' || versions.includes(current.version));
  if ((ifMatch === undefined || isNamed(ifMatch)) && (ifNoneMatch === undefined || !isNamed(ifNoneMatch))) return;
  if (ifNoneMatch === '*' && current !== undefined) {
    throw new ServiceError(
      'resource-exists',
      `${current.type}/${current.id} exists already, as version ${current.version}. Leave If-None-Match out to replace it.`,
    );
  }
  const found = current === undefined ? 'nothing is stored' : `the stored version is ${current.version}`;
  throw new ServiceError(
    'version-mismatch',
    `Version Id mismatch: ${found}. Read the resource again and repeat the change.`,
  );
}
