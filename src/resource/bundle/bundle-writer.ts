import { Injectable } from '@nestjs/common';
import { localKey } from '../../fhir/reference';
import { inOneFlight } from '../../platform/database/in-one-flight';
import { ServiceError } from '../../platform/errors/service-error';
import { RequestContext } from '../../platform/http/request-context';
import { type ResourceChange } from '../resource-change';
import { NextVersions } from '../next-versions';
import {
  type FreeId,
  type LockedId,
  type LockedResource,
  NEW_ID,
  type NewResource,
  ResourceStore,
} from '../store/resource-store';
import { WriteExtensions } from '../write-extensions';
import { type Deadline } from './deadline';
import { atEntry } from './entry-error';
import { type EntryResult, type PlannedStore, type PlannedWrite } from './planned-write';
import { GrantedWrites } from './granted-writes';
import { assertPossible, HIDDEN } from './possible-writes';
import { SingleWrites } from './single-writes';

/** Statements under way on the one connection: enough to hide the round trips, few enough to keep memory small. */
const FLIGHT = 64;

/** Bytes of stored versions that one set may change; so many at most are not asked for. */
const MOST_BYTES = 64 * 1024 * 1024;
const FEW = 3;

/** What a set of writes does to the tables, and whom it concerns. */
interface Effects {
  readonly inserts: NewResource[];
  /** Those of the inserts whose ids somebody else could use as well. */
  readonly chosenIds: NewResource[];
  readonly statements: (() => Promise<unknown>)[];
  readonly changes: { readonly index: number; readonly change: ResourceChange }[];
  /** What has to be granted when all is written. */
  readonly stored: PlannedWrite[];
}

/**
 * Writes what a transaction bundle plans: all that is new by one statement for hundreds of resources, the rest in flights
 * (ADR 0017). Runs inside a unit of work.
 */
@Injectable()
export class BundleWriter {
  constructor(
    private readonly store: ResourceStore,
    private readonly singles: SingleWrites,
    private readonly granted: GrantedWrites,
    private readonly extensions: WriteExtensions,
    private readonly versions: NextVersions,
    private readonly requests: RequestContext,
  ) {}

  /** Results are in the order of `writes`, which is that of the entries: the later of two writes of one id is the later version. */
  async write(writes: readonly PlannedWrite[], deadline: Deadline): Promise<EntryResult[]> {
    const held = await this.hold(writes);
    const hidden = await this.granted.hiddenAmong(writes, held);
    const shown = (write: PlannedWrite, key: string): LockedId | undefined =>
      hidden.has(write) ? HIDDEN : held.get(key);
    assertPossible(writes, shown);
    const results = new Map<number, EntryResult>();
    const effects: Effects = { inserts: [], chosenIds: [], statements: [], changes: [], stored: [] };
    const later: PlannedWrite[] = [];
    const seen = new Set<string>();
    for (const write of writes) {
      const key = localKey(write.type, write.id);
      const result = seen.has(key) ? undefined : await this.plan(write, shown(write, key), effects);
      if (result === undefined) later.push(write);
      else results.set(write.index, result);
      seen.add(key);
      await deadline.check();
    }
    await this.execute(effects, deadline);
    for (const write of later) {
      results.set(write.index, await atEntry(write.index, () => this.singles.write(write)));
      await deadline.check();
    }
    return writes.map(({ index }) => results.get(index) ?? { status: 204 });
  }

  /** Everything that the transaction is about is locked before its first write, in one order that all transactions keep. */
  private async hold(writes: readonly PlannedWrite[]): Promise<Map<string, LockedId>> {
    const shared = writes.filter((write) => write.mode !== 'nothing' && !('isNewId' in write && write.isNewId));
    const names = new Map(shared.map(({ type, id }) => [localKey(type, id), { type, id }]));
    const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
    const ordered = sorted.map(([, name]) => name);
    if (ordered.length > FEW) this.holdMemory(await this.store.bytesOf(ordered));
    const locked = await this.store.lockAll(ordered);
    return new Map(sorted.map(([key], index) => [key, locked[index] ?? { current: undefined, ...NEW_ID }]));
  }

  /** A few bytes may delete gigabytes, and all that is changed stands in memory with what is made of it. */
  private holdMemory(bytes: number): void {
    if (bytes > MOST_BYTES && this.requests.origin !== undefined) throw tooLongTogether();
    this.requests.ticket.hold(2 * bytes);
  }

  /** Undefined for what has to wait until the set is written. */
  private plan(write: PlannedWrite, held: LockedId | undefined, effects: Effects): Promise<EntryResult | undefined> {
    return atEntry(write.index, () => {
      const current = held?.current;
      switch (write.mode) {
        case 'nothing':
          return { status: 204 };
        case 'existing':
          return current === undefined ? undefined : { status: 200, resource: current };
        case 'patch':
        case 'late':
          return undefined;
        case 'delete':
          return this.planDelete(write, current, effects);
        case 'create':
        case 'put':
          if (current === undefined) return this.planInsert(write, held ?? NEW_ID, effects);
          return this.planReplace(write, current, effects);
      }
    });
  }

  private async planInsert(write: PlannedStore, free: FreeId, effects: Effects): Promise<EntryResult> {
    const { index, type, id, draft, rule, method, isNewId } = write;
    draft.assignId(id);
    await rule.store(undefined);
    const content = this.versions.ofNew(draft, id, method, free);
    const added = { type, id, content };
    effects.inserts.push(added);
    effects.stored.push(write);
    if (!isNewId) effects.chosenIds.push(added);
    const limit = write.options.reach?.rows;
    effects.changes.push({ index, change: { interaction: 'create', type, id, ...content, current: content, limit } });
    return { status: 201, resource: { type, id, ...content } };
  }

  private async planReplace(write: PlannedStore, current: LockedResource, effects: Effects): Promise<EntryResult> {
    const { index, type, id, draft, rule, method } = write;
    await rule.store(current.value);
    const content = await this.versions.after(current, draft, method);
    if (content === undefined) return { status: 200, resource: current };
    effects.statements.push(() => this.store.replace(current, content));
    effects.stored.push(write);
    effects.changes.push({
      index,
      change: { interaction: 'update', type, id, ...content, current: content, previous: current },
    });
    return { status: 200, resource: { type, id, ...content } };
  }

  private planDelete(
    { index, type, id }: PlannedWrite,
    current: LockedResource | undefined,
    effects: Effects,
  ): EntryResult {
    if (current === undefined) return { status: 204 };
    const version = current.version + 1;
    const updatedAt = this.versions.timeAfter(current.updatedAt);
    effects.statements.push(() => this.store.remove(current, version, updatedAt));
    effects.changes.push({
      index,
      change: { interaction: 'delete', method: 'DELETE', type, id, version, updatedAt, previous: current },
    });
    return { status: 200, resource: current, version, updatedAt };
  }

  private async execute(
    { inserts, chosenIds, statements, changes, stored }: Effects,
    deadline: Deadline,
  ): Promise<void> {
    await this.store.insertAll(inserts, () => deadline.check());
    for (let from = 0; from < statements.length; from += FLIGHT) {
      await inOneFlight(statements.slice(from, from + FLIGHT).map((send) => send()));
      await deadline.check();
    }
    await this.store.assertUnchanged(chosenIds);
    await this.granted.assertAll(stored);
    await this.extensions.notifyAll(
      changes.map(({ change }) => change),
      (place, work) => atEntry(changes[place]?.index ?? 0, work),
    );
  }
}

const tooLongTogether = (): ServiceError =>
  new ServiceError(
    'unprocessable',
    'The resources that this Bundle changes have more than 64 MiB together. Send it in parts.',
  );
