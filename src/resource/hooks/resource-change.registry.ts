import { ResourceDraft } from '../../model/resource-draft';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { callHandler, handlerNameOf } from '../../platform/discovery/handler-calls';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { Ambient } from '../../platform/ambient';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type StatementPart } from '../../platform/database/statement';
import { OnResourceChange, type ResourceChange, type ResourceChangeListener } from './resource-change';
import { ResourceTypes } from '../../model/resource-types';
import { addTo } from '../../platform/lists-by-key';

/**
 * How deep writes of listeners may be nested. A listener that writes its own type calls itself, and without a limit the
 * transaction would grow until memory or disk is full.
 */
const MAX_NESTING = 50;

type Meta = { readonly types?: readonly string[] } | undefined;

@Injectable()
export class ResourceChangeListeners
  extends HandlerRegistry<Meta, ResourceChangeListener>
  implements OnApplicationBootstrap
{
  private readonly nesting = new Ambient<number>();

  constructor(
    discovery: DiscoveryService,
    private readonly unitOfWork: UnitOfWork,
    private readonly types: ResourceTypes,
  ) {
    const members = { 'types?': { each: 'string' } } as const;
    super(discovery, OnResourceChange, (_meta, listener) => listener.constructor.name, [], members);
  }

  protected override faultOf(meta: Meta, listener: ResourceChangeListener): string | undefined {
    if (!['onChange', 'onChanges', 'adds'].some((method) => method in listener))
      return 'it has none of the methods "onChange", "onChanges" and "adds". Add one, or remove the decorator';
    if (meta?.types?.length !== 0) return undefined;
    return 'its list of types is empty, so it would receive nothing. Name a type, or leave out "types" for all';
  }

  /** @throws StartError for a misspelt type, whose changes the listener would never receive */
  onApplicationBootstrap(): void {
    for (const { meta, handler } of this.all())
      for (const type of meta?.types ?? []) this.types.assertNamed(type, handler);
  }

  /**
   * Whether any listener needs changes of `type`. If none does, a create is one statement without a transaction. The
   * call also loads the data that the listeners cache. Call it outside of a transaction, since data that is loaded
   * inside one is not cached.
   */
  async concerns(type: string): Promise<boolean> {
    let isAny = false;
    for (const listener of this.listenersOf(type)) {
      const isConcerned = (await listener.concerns?.(type)) ?? true;
      isAny ||= isConcerned;
    }
    return isAny;
  }

  /**
   * Notifies the listeners of a set of writes of the open transaction.
   * @param at runs the work for the change with a given index
   */
  async notify(
    changes: readonly ResourceChange[],
    at: (place: number, work: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const sets = new Map<ResourceChangeListener, ResourceChange[]>();
    for (const [place, change] of changes.entries()) {
      await at(place, async () => {
        for (const listener of this.listenersOf(change.type)) {
          if ((await listener.concerns?.(change.type)) === false) continue;
          if (listener.onChanges === undefined) await this.call(listener, () => listener.onChange?.(change));
          else addTo(sets, listener, change);
        }
      });
    }
    for (const [listener, set] of sets) await this.call(listener, () => listener.onChanges?.(set));
  }

  /** Resources that listeners want to create together with the change. */
  async additionsTo(change: ResourceChange): Promise<readonly ResourceDraft[]> {
    const all: ResourceDraft[] = [];
    for (const listener of this.listenersOf(change.type)) {
      if (listener.adds === undefined || (await listener.concerns?.(change.type)) === false) continue;
      all.push(...(await callHandler(listener, () => listener.adds?.(change) ?? [], areDrafts)));
    }
    return all;
  }

  /**
   * CTEs that listeners add to the statement of a create, so that it needs no transaction. Undefined if a listener
   * needs a transaction.
   */
  async partsOf(change: ResourceChange): Promise<readonly StatementPart[] | undefined> {
    const all: StatementPart[] = [];
    for (const listener of this.listenersOf(change.type)) {
      if ((await listener.concerns?.(change.type)) === false) continue;
      const parts = await listener.partsOf?.(change);
      if (parts === undefined) return undefined;
      all.push(...parts);
    }
    return all;
  }

  private async call(listener: ResourceChangeListener, work: () => Promise<void> | undefined): Promise<void> {
    const name = handlerNameOf(listener);
    const depth = (this.nesting.value ?? 0) + 1;
    if (depth > MAX_NESTING)
      throw new Error(
        `${name} is called by writes of listeners, ${MAX_NESTING} deep. If it writes a type that it receives, let it ` +
          'write only while the stored content differs from what it would write.',
      );
    return this.nesting.run(depth, () => this.unitOfWork.inside(name, () => callHandler(listener, work)));
  }

  private listenersOf(type: string): ResourceChangeListener[] {
    return this.all()
      .filter(({ meta }) => meta?.types?.includes(type) ?? true)
      .map(({ handler }) => handler);
  }
}

const areDrafts = (added: unknown): boolean =>
  Array.isArray(added) && added.every((draft) => draft instanceof ResourceDraft);
