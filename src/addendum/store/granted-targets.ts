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
import { memberText } from '../../platform/json/json-members';
import { AddendumEntries, type SnapshotEntry } from '../chain/addendum-entries.repository';
import { TARGET_TYPES } from '../params/references';
import { snapshotDigestOf } from '../snapshots/snapshot-digest';

const SAVEPOINT: Statement = { name: '', text: 'savepoint snapshot' };
const ROLL_BACK: Statement = { name: '', text: 'rollback to savepoint snapshot' };

/** How many versions are compared with the latest snapshot. Signing stores both together, so a few are enough. */
const MAX_VERSIONS = 20;

/**
 * Finds the targets whose addenda a caller may read. A signed body need not be stored as a resource (`add-to-history`).
 * So the row filter of the caller must include the latest snapshot of the target, not only the stored target. Otherwise
 * a caller could store a document under the id of a target of somebody else, and then read the addenda of that target.
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

  /** Returns the stored target; undefined if there is none, or the caller may not read it or its addenda. */
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
   * Refuses a body that the caller could not store as the target. Its snapshot would become the latest, and hide the
   * record from all callers whose row filter excludes the body.
   * @throws ServiceError 'forbidden' as for a PUT of the body
   */
  async assertBodyGranted(target: NativeReference, body: string): Promise<void> {
    const limit = await this.limits.current();
    if (limit !== undefined && !(await this.isBodyGranted(body, target, limit))) throw notGranted();
  }

  /**
   * Refuses to create a target that already has addenda hidden by the caller's row filter, like any other hidden
   * resource. Addenda without a snapshot count as hidden, since nothing shows whose they are. Addenda that a concurrent
   * call adds are not checked here, but by {@link find}.
   */
  async onChange({ interaction, limit, type, id }: ResourceChange): Promise<void> {
    if (interaction !== 'create' || limit === undefined) return;
    const target = { resourceType: type, id };
    if ((await this.entries.holdRecord(target)) === 0) return;
    const [latest] = await this.entries.latestSnapshots(target);
    if (latest === undefined || !(await this.isGranted(latest, target, limit))) throw notGranted();
  }

  /** Returns no CTE, so that a write without a row filter needs no transaction for this listener. */
  partsOf(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  /**
   * Whether the snapshot is equal to a stored version of the target. If so, the caller may read it: access to the
   * current version includes the earlier versions (ADR 0022).
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

  private async isGranted({ addendumId }: SnapshotEntry, target: NativeReference, limit: RowLimit): Promise<boolean> {
    const addendum = await this.reader.find('SDCAddendum', addendumId);
    const text = addendum === undefined ? undefined : memberText(addendum.text, 'snapshot');
    return text !== undefined && this.isBodyGranted(text, target, limit);
  }

  /** Whether the row filter includes a body: it replaces the stored one in a savepoint, which is rolled back. */
  private isBodyGranted(text: string, { resourceType: type, id }: NativeReference, limit: RowLimit): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      const stored = await this.store.lock(type, id);
      if (stored === undefined) return false;
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
