import { Injectable } from '@nestjs/common';
import { isSame, parseStoredInSteps } from '../../platform/json/lossless';
import { Clock } from '../../platform/time/clock';
import { Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type Meta } from '../../fhir/types';
import { MetaStyles, type VersionStamp } from '../../model/meta-style';
import { type ResourceDraft } from '../../model/resource-draft';
import { type FreeId, type LockedResource, ResourceStore, type VersionContent } from '../../store/resource-store';
import { type WriteMethod } from '../../model/stored-resource';

@Injectable()
export class NextVersions {
  constructor(
    private readonly styles: MetaStyles,
    private readonly store: ResourceStore,
    private readonly clock: Clock,
    private readonly slices: Slices,
  ) {}

  /**
   * The first version of an id, or the version after a deletion. The latter keeps the creation time of the first
   * version.
   */
  ofNew(draft: ResourceDraft, id: string, method: WriteMethod, free: FreeId): VersionContent {
    const { lastVersion, deletedAt } = free;
    const updatedAt = deletedAt === undefined ? this.clock.now() : this.timeAfter(deletedAt);
    const createdAt = lastVersion === 0 ? updatedAt : free.createdAt;
    return this.contentOf(draft, id, method, { version: lastVersion + 1, updatedAt, createdAt });
  }

  /** The version that replaces the stored one; undefined if its content equals the stored content. */
  async after(current: LockedResource, draft: ResourceDraft, method: WriteMethod): Promise<VersionContent | undefined> {
    const { id, type, version, updatedAt, text, value } = current;
    const style = this.styles.of(type);
    const storedCreatedAt = style.createdAtIn(value.meta ?? {});
    const asStored = style.textOf(draft.meta, { version, updatedAt, createdAt: storedCreatedAt });
    const isUnchanged =
      !draft.hasHiddenChange && (await this.slices.run(isSameContent(draft.textOf(id, asStored), text)));
    if (isUnchanged) return undefined;
    return this.contentOf(draft, id, method, {
      version: version + 1,
      updatedAt: this.timeAfter(updatedAt),
      createdAt: storedCreatedAt ?? (await this.store.createdAt(current)),
    });
  }

  /**
   * The time of a new version whose predecessor has the time `time`. Clocks of replicas differ and may jump, so the
   * result is always later than `time`.
   */
  timeAfter(time: Date): Date {
    return new Date(Math.max(this.clock.now().getTime(), time.getTime() + 1));
  }

  private contentOf(draft: ResourceDraft, id: string, method: WriteMethod, stamp: VersionStamp): VersionContent {
    const { version, updatedAt } = stamp;
    const metaText = this.styles.of(draft.type).textOf(draft.meta, stamp);
    const value = Object.assign({}, draft.value, { id, meta: JSON.parse(metaText) as Meta });
    return { version, updatedAt, method, text: draft.textOf(id, metaText), value };
  }
}

/** The order of keys is ignored; numbers are compared as written. */
function* isSameContent(text: string, stored: string): Steps<boolean> {
  if (text === stored) return true;
  if (text.length !== stored.length) return false;
  const [one, other] = [yield* parseStoredInSteps(text), yield* parseStoredInSteps(stored)];
  yield;
  return isSame(one, other);
}
