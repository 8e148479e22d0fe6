import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { Clock } from '../../platform/time/clock';
import { Slices } from '../../platform/time/slices';
import { notStored } from '../../store/not-stored';
import { ResourceReader } from '../../store/resource-reader';
import { GrantedReader } from '../../resource/rows/granted-reader';
import { type StoredResource } from '../../model/stored-resource';
import { AddendumEntries, emptied } from '../chain/addendum-entries.repository';
import { Chains, type Verification } from '../chain/chains';
import { GrantedTargets } from '../store/granted-targets';
import { type RecordHead, type RecordPart } from './record';
import { RecordParts } from './record-parts';

const MAX_TRIES = 5;

export interface TargetRecord {
  readonly head: RecordHead;
  readonly parts: AsyncIterable<RecordPart>;
}

/** Reads the record of a target in the order of its addenda, a few at a time. */
@Injectable()
export class RecordReader {
  constructor(
    private readonly granted: GrantedReader,
    private readonly targets: GrantedTargets,
    private readonly reader: ResourceReader,
    private readonly entries: AddendumEntries,
    private readonly chains: Chains,
    private readonly slices: Slices,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads the record of a target. Revisions that are signed after this call began are not included.
   * @throws ServiceError 'not-found' or 'gone' for a target that is not stored and has no addenda, or that the caller
   * may not read
   */
  async read(target: NativeReference): Promise<TargetRecord> {
    const { stored, chain } = await this.ofOneMoment(target);
    const isDeleted = stored === undefined && (await this.reader.wasStored(target.resourceType, target.id));
    const parts = new RecordParts(this.slices, stored);
    const readAt = this.clock.now().toISOString();
    const head = { target, readAt, stored: await parts.storedTarget(), isDeleted, chain };
    return { head, parts: this.partsOf(parts, chain) };
  }

  /**
   * Reads the stored body and checks the chain so that both are of the same moment. Signing writes body and addenda in
   * one transaction. So if the body is the same before and after the check of the chain, they belong together.
   */
  private async ofOneMoment(
    target: NativeReference,
  ): Promise<{ readonly stored: StoredResource | undefined; readonly chain: Verification }> {
    const { resourceType, id } = target;
    let stored = await this.targets.find(target);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // Row criteria need the body to decide, so only a caller without them may read the record of a deleted target.
      if (stored === undefined && this.granted.isLimited) throw notStored(resourceType, id, false);
      const chain = await this.chains.check(target);
      const after = await this.targets.find(target);
      if (after?.text !== stored?.text) {
        stored = after;
        continue;
      }
      // Without addenda, nothing shows that the target ever existed.
      if (stored === undefined && chain.intact && chain.length === 0) await this.reader.read(resourceType, id);
      return { stored, chain };
    }
    throw new ServiceError(
      'write-conflict',
      `${resourceType}/${id} changes again and again. Try again in a few seconds.`,
      { retryAfterSeconds: 5 },
    );
  }

  private async *partsOf(parts: RecordParts, chain: Verification): AsyncGenerator<RecordPart, void, void> {
    for await (const page of this.entries.pagesOf(chain.target, chain.intact ? chain.length : undefined))
      for (const entry of emptied(page)) yield await parts.partOf(entry, entry.sequence <= chain.length);
    const unsigned = await parts.unsigned();
    if (unsigned !== undefined) yield unsigned;
  }
}
