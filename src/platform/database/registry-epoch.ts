import { Injectable } from '@nestjs/common';
import { RequestContext } from '../request/request-context';
import { type Epochs } from '../request/epochs';
import { type Statement } from './statement';
import { Statements } from './statements';
import { UnitOfWork } from './unit-of-work';

const READ: Statement = { name: 'registry-epoch-read', text: 'select epoch, rights_epoch from registry_epoch' };
const RAISE: Statement = {
  name: 'registry-epoch-raise',
  text: 'update registry_epoch set epoch = epoch + 1, rights_epoch = rights_epoch + 1',
};
const RAISE_RIGHTS: Statement = {
  name: 'registry-epoch-raise-rights',
  text: 'update registry_epoch set rights_epoch = rights_epoch + 1',
};

/** Named by conflicts of {@link assertRightsSql}. */
const TABLE = 'registry_epoch';

/**
 * 0, or an error with SQLSTATE 40001 unless `known` is the present epoch of rights: what was decided by it must not be
 * stored. Null is not compared.
 */
export const assertRightsSql = (known: string): string =>
  `case when (select rights_epoch from ${TABLE}) <> ${known} then refuse_outdated_rights() else 0 end`;

/**
 * The numbers that tell when cached registries (policies, topics, the compartment) and rights must be loaded again.
 * The transaction that changes them raises the number; each request reads both with the caller's Session, so a change
 * is in force on every replica for each request that begins after its answer.
 */
@Injectable()
export class RegistryEpoch {
  private readonly raisedHere = Symbol('registry-epoch');

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Raises both numbers once, at the very end of the open transaction: writers of registries queue only for the commit.
   */
  raise(): void {
    this.raiseAtEnd('registries');
  }

  /** Raises the number of rights alone: registries stay as they are. */
  raiseRights(): void {
    this.raiseAtEnd('rights');
  }

  /**
   * Whether rights are read anew for whatever is decided, instead of by an epoch: the open transaction changes them
   * itself, or the request has started over once. They may change faster than it gets to its end, and must not keep it
   * from it.
   */
  get isReadAnew(): boolean {
    return this.requests.isStartedOver || this.unitOfWork.hasGathered(this.raisedHere);
  }

  /**
   * The epoch that {@link assertRightsSql} compares decisions of this request with; null where rights are read anew.
   */
  async rightsToHold(): Promise<number | null> {
    return this.isReadAnew ? null : (await this.current()).rights;
  }

  /**
   * The epochs of this request; read from the database in background work, and again when a transaction starts over.
   */
  async current(): Promise<Epochs> {
    return this.requests.epochs ?? this.readAgain();
  }

  /** The epochs of this moment, which the request keeps to from here on. */
  async readAgain(): Promise<Epochs> {
    const row = await this.statements.runOne<{ epoch: number; rights_epoch: number }>(READ, []);
    const epochs = { registries: row?.epoch ?? 0, rights: row?.rights_epoch ?? 0 };
    this.requests.keepEpochs(epochs);
    return epochs;
  }

  private raiseAtEnd(what: keyof Epochs): void {
    this.requests.noteCallerChange();
    this.unitOfWork.gatherLast(this.raisedHere, what, async (raised) => {
      await this.statements.run(raised.includes('registries') ? RAISE : RAISE_RIGHTS, []);
    });
  }
}

interface Loaded<T> {
  readonly epoch: number;
  readonly value: T;
}

/** A value computed from stored resources that is loaded again when the epoch moved. */
export class CachedRegistry<T> {
  private kept: Loaded<T> | undefined;
  private loading: Loaded<Promise<T>> | undefined;

  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
    private readonly load: () => Promise<T>,
  ) {}

  async get(): Promise<T> {
    const { registries: epoch } = await this.epoch.current();
    if (this.kept !== undefined && this.kept.epoch >= epoch) return this.kept.value;
    return this.unitOfWork.isOpen ? this.loadForTransaction() : this.loadToKeep(epoch);
  }

  /** The value that was loaded last; it may be older than the epoch of the request. */
  get newest(): T | undefined {
    return this.kept?.value;
  }

  /** The value turned out to be outdated: it is loaded again when it is asked for. */
  forget(): void {
    this.kept = undefined;
    this.loading = undefined;
  }

  private loadToKeep(epoch: number): Promise<T> {
    if (this.loading === undefined || this.loading.epoch < epoch) {
      // Others wait for it too: it must not end with the request that began it.
      const loading = { epoch, value: this.unitOfWork.outside(this.load) };
      this.loading = loading;
      // A failed load is not kept: the next request tries again.
      loading.value
        .then((value) => {
          if (this.kept === undefined || this.kept.epoch < epoch) this.kept = { epoch, value };
        })
        .catch(() => undefined)
        .finally(() => {
          if (this.loading === loading) this.loading = undefined;
        });
    }
    return this.loading.value;
  }

  /**
   * By the connection of the transaction: one that waited for another connection, while others wait for its row locks
   * with theirs, could wait for ever. It may read its own epoch, which can be rolled back, so the value is not kept.
   */
  private loadForTransaction(): Promise<T> {
    this.unitOfWork.afterCommit(() => this.get());
    return this.load();
  }
}
