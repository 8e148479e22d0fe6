import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { objectText } from '../../platform/json/json-members';
import { type JsonText } from '../../platform/json/json-text';
import { Slices } from '../../platform/time/slices';
import { Addenda } from './addenda';
import { AddendumEntries } from '../chain/addendum-entries.repository';
import { HISTORY, isFinal } from '../types/addendum-kinds';
import { type Author } from './authors';
import { snapshotDigestOf } from '../snapshots/snapshot-digest';

/** A document or workflow as it stands after a change of its status. */
export interface StatusChange {
  readonly target: NativeReference;
  readonly author: Author;
  readonly status: string | undefined;
  /** The whole body as JSON text. */
  readonly body: string;
}

export interface RecordedStatus {
  readonly addendum: JsonText;
  /** Whether the body was kept as a snapshot. */
  readonly isChanged: boolean;
}

/** The History addenda of a target: a signed body that differs from the last snapshot is kept as one (interface, rule 3). */
@Injectable()
export class StatusHistory {
  constructor(
    private readonly entries: AddendumEntries,
    private readonly addenda: Addenda,
    private readonly slices: Slices,
  ) {}

  /**
   * Stores a History of a target that the open unit of work holds.
   * @param known the digest of the body, where it was made before
   */
  async record(change: StatusChange, known?: Buffer): Promise<RecordedStatus> {
    const { target, author, status, body } = change;
    const digest = known ?? (await this.digestOf(change));
    const [latest] = digest === undefined ? [] : await this.entries.latestSnapshots(target);
    const isChanged = digest !== undefined && latest?.digest.equals(digest) !== true;
    const content = objectText([
      ...(status === undefined ? [] : [['status', JSON.stringify(status)] as const]),
      ['changed', String(isChanged)],
    ]);
    const addendum = await this.addenda.add({
      type: HISTORY,
      target,
      author,
      content,
      ...(isChanged
        ? { large: { key: 'snapshot', text: body, value: JSON.parse(body) as unknown }, snapshotDigest: digest }
        : {}),
    });
    return { addendum, isChanged };
  }

  /** Stores a History of a signed body that is not the latest snapshot; nothing of one that is. */
  async recordIfNew(change: StatusChange): Promise<void> {
    const digest = await this.digestOf(change);
    if (digest === undefined) return;
    const [latest] = await this.entries.latestSnapshots(change.target);
    if (latest?.digest.equals(digest) !== true) await this.record(change, digest);
  }

  /** The digest that signed bodies are compared by; undefined for a body that is not signed. */
  async digestOf({ status, body }: Pick<StatusChange, 'status' | 'body'>): Promise<Buffer | undefined> {
    return isFinal(status) ? this.slices.run(snapshotDigestOf(body)) : undefined;
  }
}
