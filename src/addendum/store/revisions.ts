import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { memberText } from '../../platform/json/json-members';
import { type JsonText } from '../../platform/json/json-text';
import { Slices } from '../../platform/time/slices';
import { AddendumEntries } from '../chain/addendum-entries.repository';
import { diffSnapshots } from '../snapshots/snapshot-diff';
import { snapshotDigestOf } from '../snapshots/snapshot-digest';
import { AMENDMENT, HISTORY, isFinal } from '../types/addendum-kinds';
import { Addenda, type Author } from './addenda';

export interface StatusChange {
  readonly target: NativeReference;
  readonly author: Author;
  readonly status: string | undefined;
  /** The whole body as JSON text. */
  readonly body: string;
}

/** Stores History and Amendment addenda. The open unit of work must have locked their target. */
@Injectable()
export class Revisions {
  constructor(
    private readonly entries: AddendumEntries,
    private readonly addenda: Addenda,
    private readonly slices: Slices,
  ) {}

  /**
   * Stores a History, with the body as a new snapshot if it is signed and differs from the last one ("Addendum RPC",
   * rule 3).
   * @param known the digest of the body, if the caller has computed it
   * @returns the addendum, and whether it contains a snapshot
   */
  async recordStatus(change: StatusChange, known?: Buffer): Promise<{ addendum: JsonText; isChanged: boolean }> {
    const snapshotDigest = await this.newDigestOf(change, known);
    return { addendum: await this.addHistory(change, snapshotDigest), isChanged: snapshotDigest !== undefined };
  }

  /** Stores a History with the body as a snapshot, if the body is signed and differs from the latest snapshot. */
  async recordIfNew(change: StatusChange): Promise<void> {
    const digest = await this.newDigestOf(change);
    if (digest !== undefined) await this.addHistory(change, digest);
  }

  /** Stores a History, with the body as a snapshot if its digest is given. */
  private addHistory({ target, author, status, body }: StatusChange, snapshotDigest?: Buffer): Promise<JsonText> {
    const isChanged = snapshotDigest !== undefined;
    const content = JSON.stringify({ status, changed: isChanged });
    const large = isChanged ? { key: 'snapshot', text: body, value: JSON.parse(body) as unknown } : undefined;
    return this.addenda.add({ type: HISTORY, target, author, content, large, snapshotDigest });
  }

  /** Returns the digest of a signed body that differs from the last snapshot; undefined for any other body. */
  private async newDigestOf(change: StatusChange, known?: Buffer): Promise<Buffer | undefined> {
    const digest = known ?? (await this.digestOf(change));
    const [latest] = digest === undefined ? [] : await this.entries.latestSnapshots(change.target);
    return digest !== undefined && latest?.digest.equals(digest) === true ? undefined : digest;
  }

  /** Returns the digest by which signed bodies are compared; undefined for an unsigned body. */
  async digestOf({ status, body }: Pick<StatusChange, 'status' | 'body'>): Promise<Buffer | undefined> {
    return isFinal(status) ? this.slices.run(snapshotDigestOf(body)) : undefined;
  }

  /**
   * Stores an Amendment: the difference of the two latest snapshots (interface specification, "Addendum RPC", rule 4).
   * If there are fewer than two, it stores nothing and returns undefined.
   */
  async recordAmendment(target: NativeReference, author: Author): Promise<JsonText | undefined> {
    const [newer, older] = await this.entries.latestSnapshots(target);
    if (newer === undefined || older === undefined) return undefined;
    const [oldSnapshot = '{}', newSnapshot = '{}'] = (
      await this.addenda.textsOf([older.addendumId, newer.addendumId])
    ).map((text) => memberText(text, 'snapshot'));
    const content = JSON.stringify({
      'old-revision': { id: older.addendumId, resourceType: 'SDCAddendum' },
      'new-revision': { id: newer.addendumId, resourceType: 'SDCAddendum' },
    });
    const { entries, text } = await this.slices.run(diffSnapshots(oldSnapshot, newSnapshot));
    return this.addenda.add({ type: AMENDMENT, target, author, content, large: { key: 'diff', text, value: entries } });
  }
}
