import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { type NativeReference } from '../fhir/types';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { AddendumEntryEntity } from './addendum-entry.entity';
import { APPEND_ENTRY, HOLD_TARGET, LATEST_SNAPSHOTS } from './addendum-statements';

export interface SnapshotEntry {
  readonly addendumId: string;
  readonly digest: Buffer;
}

/** The order of the addenda of each target. */
@Injectable()
export class AddendumEntries {
  constructor(
    @InjectRepository(AddendumEntryEntity) private readonly rows: Repository<AddendumEntryEntity>,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Makes every other writing call for `target` wait until the open transaction ends. Returns the number of its addenda. */
  async hold({ resourceType, id }: NativeReference): Promise<number> {
    const row = await this.statements.runOne<{ last_sequence: number }>(HOLD_TARGET, [resourceType, id]);
    return row?.last_sequence ?? 0;
  }

  /** Puts an addendum behind those that the held target has. */
  async append({ resourceType, id }: NativeReference, addendumId: string, snapshotDigest?: Buffer): Promise<void> {
    await this.statements.run(APPEND_ENTRY, [resourceType, id, addendumId, snapshotDigest ?? null]);
  }

  /** The last History addenda that hold a snapshot: two at most, the later one first. */
  async latestSnapshots({ resourceType, id }: NativeReference): Promise<SnapshotEntry[]> {
    const rows = await this.statements.run<{ addendum_id: string; snapshot_digest: Buffer }>(LATEST_SNAPSHOTS, [
      resourceType,
      id,
    ]);
    return rows.map(({ addendum_id: addendumId, snapshot_digest: digest }) => ({ addendumId, digest }));
  }

  /** The ids of all addenda of a target, the first one first. */
  async idsOf({ resourceType, id }: NativeReference): Promise<string[]> {
    const found = await this.unitOfWork.bind(this.rows).find({
      select: { sequence: true, addendumId: true },
      where: { targetType: resourceType, targetId: id },
      order: { sequence: 'ASC' },
    });
    return found.map(({ addendumId }) => addendumId);
  }
}
