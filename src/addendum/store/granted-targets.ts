import { Injectable } from '@nestjs/common';
import { type NativeReference, type Resource } from '../../fhir/types';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { Slices } from '../../platform/time/slices';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../resource/hooks/resource-change';
import { ResourceReader } from '../../store/resource-reader';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { notGranted, RowCheck } from '../../resource/rows/row-check';
import { type RowLimit } from '../../search/rows/row-limit';
import { RowLimits } from '../../resource/rows/row-limits';
import { ResourceStore } from '../../store/resource-store';
import { type StoredResource } from '../../model/stored-resource';
import { memberText } from '../../rpc/member-text';
import { AddendumEntries, type SnapshotEntry } from '../chain/addendum-entries.repository';
import { TARGET_TYPES } from '../params/references';
import { snapshotDigestOf } from '../snapshots/snapshot-digest';

const SAVEPOINT: Statement = { name: '', text: 'savepoint snapshot' };
const ROLL_BACK: Statement = { name: '', text: 'rollback to savepoint snapshot' };

/** Versions compared with a snapshot: signing stores both together, so a few suffice. */
const MAX_VERSIONS = 20;

/**
 * The targets whose addenda a caller may read. A signed body need not be stored as a resource (`add-to-history`). So
 * under a row filter, the target's latest snapshot must be granted too, not just the target. Otherwise a caller could
 * store a document under the id of a record, and so read that record.
 */
@Injectable()
@OnResourceChange({ types: TARGET_TYPES })
export class GrantedTargets implements ResourceChangeListener {
  constructor(
    private readonly entries: AddendumEntries,
    private readonly granted: GrantedReader,
    private readonly reader: ResourceReader,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly store: ResourceStore,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly slices: Slices,
  ) {}

  /** The stored target; undefined if it is not stored, or the caller may not read it or its addenda. */
  async find(target: NativeReference): Promise<StoredResource | undefined> {
    const { resourceType, id } = target;
    const stored = await this.granted.find(resourceType, id);
    const limit = stored === undefined ? undefined : await this.limits.current();
    if (stored === undefined || limit === undefined) return stored;
    const [latest] = await this.entries.latestSnapshots(target);
    const isSeen =
      latest === undefined || (await this.isVersion(latest, stored)) || (await this.isGranted(latest, target, limit));
    return isSeen ? stored : undefined;
  }

  /**
   * Under a row filter, a caller cannot take the id of a hidden record, just like that of any other hidden resource.
   * Without a snapshot its owner is unknown, so it counts as hidden. A record that begins concurrently counts as later:
   * {@link find} checks it.
   */
  async onChange({ interaction, limit, type, id }: ResourceChange): Promise<void> {
    if (interaction !== 'create' || limit === undefined) return;
    const target = { resourceType: type, id };
    if ((await this.entries.holdRecord(target)) === 0) return;
    const [latest] = await this.entries.latestSnapshots(target);
    if (latest === undefined || !(await this.isGranted(latest, target, limit))) throw notGranted();
  }

  /** Without a row filter, a caller needs no transaction for this. */
  partsOf(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  /**
   * Whether the snapshot was stored as a version of the target: access to versions follows the current one (ADR 0022).
   */
  private async isVersion({ digest }: SnapshotEntry, { type, id, version, text }: StoredResource): Promise<boolean> {
    const isSame = async (body: string): Promise<boolean> =>
      digest.equals(await this.slices.run(snapshotDigestOf(body)));
    if (await isSame(text)) return true;
    for (let earlier = version - 1; earlier > Math.max(0, version - MAX_VERSIONS); earlier--) {
      const [found] = await this.reader.findVersions([{ type, id, version: earlier }]);
      if (found?.text !== undefined && (await isSame(found.text))) return true;
    }
    return false;
  }

  /**
   * Whether the row filter includes the snapshot. It temporarily replaces the stored body, inside a savepoint that is
   * rolled back.
   */
  private isGranted({ addendumId }: SnapshotEntry, target: NativeReference, limit: RowLimit): Promise<boolean> {
    const { resourceType: type, id } = target;
    return this.unitOfWork.run(async () => {
      const stored = await this.store.lock(type, id);
      const addendum = await this.reader.find('SDCAddendum', addendumId);
      const text = addendum === undefined ? undefined : memberText(addendum.text, 'snapshot');
      if (stored === undefined || text === undefined) return false;
      const { version, updatedAt } = stored;
      const value = JSON.parse(text) as Resource;
      await this.statements.run(SAVEPOINT, []);
      try {
        await this.store.replace(stored, { version: version + 1, updatedAt, method: 'PUT', text, value });
        return await this.rows.isGranted(limit, { type, id });
      } finally {
        await this.statements.run(ROLL_BACK, []);
      }
    });
  }
}
