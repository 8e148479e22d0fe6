import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { pipelined } from '../../platform/database/pipelined';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/request/request-context';
import { NextVersions } from './next-versions';
import { type ResourceChange } from '../hooks/resource-change';
import { ResourceChangeListeners } from '../hooks/resource-change.registry';
import { ResourceDraft } from '../../model/resource-draft';
import { notGranted, RowCheck } from '../rows/row-check';
import { type RowLimit } from '../../search/rows/row-limit';
import {
  type FreeId,
  type LockedId,
  lockedId,
  type LockedResource,
  type NewResource,
  ResourceStore,
} from '../../store/resource-store';
import { type WriteMethod } from '../../model/stored-resource';
import { type CheckedDraft, WriteExtensions } from './write-extensions';
import { assertPossible, HIDDEN, UNUSED } from './possible-writes';
import { type StoreWrite, type Write, type WriteGuard, type WriteResult } from './write';
import { addTo } from '../../platform/lists-by-key';

/**
 * Maximum number of statements that are pipelined on the one connection. This is enough to hide round trips, and few
 * enough to keep memory small.
 */
const PIPELINE_LENGTH = 64;

/**
 * Maximum number of bytes of stored versions that one set may change. A set of up to `FEW` resources is not measured.
 */
const MOST_BYTES = 64 * 1024 * 1024;
const FEW = 3;

/** The guard for a set of one write, whose error need not name it. */
const ALONE: WriteGuard = {
  at: async (_index, work) => work(),
  judge: (writes, assert) => {
    writes.forEach(assert);
  },
  step: () => Promise.resolve(),
};

/** The planned statements of a set of writes, and the changes for listeners. */
interface Effects {
  readonly inserts: NewResource[];
  /** The inserts whose ids the client chose. Other requests could use these ids at the same time. */
  readonly chosenIds: NewResource[];
  readonly statements: (() => Promise<void>)[];
  readonly changes: { readonly write: Write; readonly change: ResourceChange }[];
}

/**
 * Writes a set of resources; a single write is a set of one. It locks all resources of the set, refuses impossible
 * writes, and plans what each write does. Then it executes the plan: one statement for hundreds of new resources, and
 * pipelined round trips for the rest (ADR 0050). It runs inside a unit of work.
 */
@Injectable()
export class WriteSet {
  constructor(
    private readonly store: ResourceStore,
    private readonly rows: RowCheck,
    private readonly extensions: WriteExtensions,
    private readonly listeners: ResourceChangeListeners,
    private readonly versions: NextVersions,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Writes the set. Results are in the order of `writes`; a result is undefined if there was nothing to delete. If two
   * writes have the same id, the later one makes the later version.
   */
  async write(writes: readonly Write[], guard: WriteGuard = ALONE): Promise<(WriteResult | undefined)[]> {
    const firstByKey = new Map<string, Write>();
    for (const write of writes) {
      const key = localKey(write.type, write.id);
      if (!firstByKey.has(key)) firstByKey.set(key, write);
    }
    const firsts = [...firstByKey.values()];
    const held = await this.hold(firsts);
    const heldFor = (write: Write): LockedId => held.get(write) ?? UNUSED;
    const hidden = await this.beyond(firsts.filter((write) => heldFor(write).lastVersion > 0));
    const shownTo = (write: Write): LockedId => (hidden.has(write) ? HIDDEN : heldFor(write));
    guard.judge(firsts, (write) => {
      assertPossible(write, shownTo(write));
    });
    const results = new Map<Write, WriteResult | undefined>();
    const effects: Effects = { inserts: [], chosenIds: [], statements: [], changes: [] };
    for (const write of firsts) {
      results.set(write, await guard.at(write.index, () => this.plan(write, shownTo(write), effects)));
      await guard.step();
    }
    await this.addTogether(effects, guard);
    await this.execute(effects, guard);
    // The remaining writes run one by one, in order. These are further writes of an id that was just written, and
    // writes with references by search to resources of the set.
    for (const write of writes.filter((one) => one.mode === 'late' || !results.has(one))) {
      const again = write.mode === 'late' ? await guard.at(write.index, write.make) : write;
      const [result] = await guard.at(write.index, () => this.write([{ ...again, foundText: undefined }], guard));
      results.set(write, result);
      await guard.step();
    }
    return writes.map((write) => results.get(write));
  }

  /**
   * Locks all resources of the set before its first write, in an order that all transactions share. This prevents
   * deadlocks.
   */
  private async hold(writes: readonly Write[]): Promise<ReadonlyMap<Write, LockedId>> {
    const held = new Map<Write, LockedId>();
    const asked: (readonly [key: string, write: Write])[] = [];
    for (const write of writes) {
      if (write.locked !== undefined) held.set(write, lockedId(write.locked));
      else if (write.mode !== 'nothing' && !('isNewId' in write && write.isNewId))
        asked.push([localKey(write.type, write.id), write]);
    }
    const [one, ...others] = asked;
    if (one !== undefined && others.length === 0) return held.set(one[1], await this.holdOne(one[1]));
    asked.sort(([a], [b]) => (a < b ? -1 : 1));
    const names = asked.map(([, { type, id }]) => ({ type, id }));
    if (names.length > FEW) this.holdMemory(await this.store.bytesOf(names));
    const locked = await this.store.lockAll(names);
    for (const [place, [, write]] of asked.entries()) held.set(write, locked[place] ?? UNUSED);
    return held;
  }

  /** Usually the resource is stored, and locking its row suffices. */
  private async holdOne({ mode, type, id }: Write): Promise<LockedId> {
    const current = mode === 'create' ? undefined : await this.store.lock(type, id);
    if (current !== undefined || mode === 'delete') return lockedId(current);
    const [locked = UNUSED] = await this.store.lockAll([{ type, id }]);
    return locked;
  }

  /**
   * Reserves memory for the stored versions, since all changed resources are in memory together. A small request may
   * delete gigabytes.
   */
  private holdMemory(bytes: number): void {
    if (bytes > MOST_BYTES && this.requests.origin !== undefined) throw tooLongTogether();
    this.requests.ticket.hold(2 * bytes);
  }

  /** The writes whose resource is not stored or not granted. One statement tests all writes with the same grant. */
  private async beyond(writes: readonly Write[]): Promise<ReadonlySet<Write>> {
    const beyond = new Set<Write>();
    for (const [limit, limited] of byLimit(writes)) {
      const places = new Set(await this.rows.beyond(limit, limited));
      for (const [place, write] of limited.entries()) if (places.has(place)) beyond.add(write);
    }
    return beyond;
  }

  private async plan(write: Write, held: LockedId, effects: Effects): Promise<WriteResult | undefined> {
    const { current } = held;
    switch (write.mode) {
      case 'create':
      case 'put':
        return current === undefined
          ? this.planInsert(write, held, effects)
          : this.planReplace(write, current, effects);
      case 'patch': {
        if (current === undefined) return undefined; // assertPossible refused it before
        const draft = ResourceDraft.of(await write.patch(current.text), write.type, write.id);
        const rule = await this.extensions.check(draft, write.willExist);
        return this.planReplace({ ...write, draft, rule }, current, effects);
      }
      case 'delete':
        return current === undefined ? undefined : this.planDelete(write, current, effects);
      case 'existing':
        return current === undefined ? undefined : { outcome: 'unchanged', resource: current };
      case 'nothing':
      case 'late':
        return undefined;
    }
  }

  private async planInsert(
    write: StoreWrite,
    free: FreeId,
    { inserts, chosenIds, changes }: Effects,
  ): Promise<WriteResult> {
    const { type, id, draft, rule, method, isNewId, reach, parts } = write;
    draft.assignId(id);
    await rule.store(undefined);
    const content = this.versions.ofNew(draft, id, method, free);
    const added = { type, id, content, parts };
    inserts.push(added);
    if (!isNewId) chosenIds.push(added);
    const change = { interaction: 'create', type, id, ...content, current: content, limit: reach?.rows } as const;
    changes.push({ write, change });
    return { outcome: 'created', resource: { type, id, ...content } };
  }

  /**
   * Plans the resources that listeners create together with the changes. They are inserted together with the new
   * resources of the set.
   */
  private async addTogether(effects: Effects, guard: WriteGuard): Promise<void> {
    for (const { write, change } of [...effects.changes]) {
      const { index } = write;
      await guard.at(index, async () => {
        for (const draft of await this.listeners.additionsTo(change)) {
          const rule = await this.extensions.check(draft);
          const added = { mode: 'create', index, type: draft.type, id: randomUUID(), draft, rule } as const;
          await this.planInsert({ ...added, method: 'POST', isNewId: true }, UNUSED, effects);
        }
      });
    }
  }

  private async planReplace(
    write: Write & { readonly draft: ResourceDraft; readonly rule: CheckedDraft; readonly method: WriteMethod },
    current: LockedResource,
    { statements, changes }: Effects,
  ): Promise<WriteResult> {
    const { type, id, draft, rule, method } = write;
    draft.assignId(id);
    await rule.store(current.value);
    const content = await this.versions.after(current, draft, method);
    if (content === undefined) return { outcome: 'unchanged', resource: current };
    statements.push(() => this.store.replace(current, content));
    const change = { interaction: 'update', type, id, ...content, current: content, previous: current } as const;
    changes.push({ write, change });
    return { outcome: 'updated', resource: { type, id, ...content } };
  }

  private planDelete(write: Write, current: LockedResource, { statements, changes }: Effects): WriteResult {
    const { type, id } = write;
    const deletion = { version: current.version + 1, updatedAt: this.versions.timeAfter(current.updatedAt) };
    statements.push(() => this.store.remove(current, deletion.version, deletion.updatedAt));
    const change = { interaction: 'delete', method: 'DELETE', type, id, ...deletion, previous: current } as const;
    changes.push({ write, change });
    return { outcome: 'deleted', resource: current, deletion };
  }

  private async execute({ inserts, chosenIds, statements, changes }: Effects, guard: WriteGuard): Promise<void> {
    await this.store.insertAll(inserts, () => guard.step());
    for (let from = 0; from < statements.length; from += PIPELINE_LENGTH) {
      await pipelined(statements.slice(from, from + PIPELINE_LENGTH).map((send) => send()));
      await guard.step();
    }
    await this.store.assertUnchanged(chosenIds);
    const stored = changes.filter(({ change }) => change.current !== undefined).map(({ write }) => write);
    const beyond = await this.beyond(stored);
    guard.judge(stored, (write) => {
      if (beyond.has(write)) throw notGranted();
    });
    await this.listeners.notify(
      changes.map(({ change }) => change),
      (place, work) => guard.at(changes[place]?.write.index ?? 0, work),
    );
  }
}

function byLimit(writes: readonly Write[]): ReadonlyMap<RowLimit, readonly Write[]> {
  const groups = new Map<RowLimit, Write[]>();
  for (const write of writes) {
    const limit = write.reach?.rows;
    if (limit !== undefined) addTo(groups, limit, write);
  }
  return groups;
}

const tooLongTogether = (): ServiceError =>
  new ServiceError(
    'bundle-too-large',
    'The resources that this Bundle changes have more than 64 MiB together. Send it in parts.',
  );
