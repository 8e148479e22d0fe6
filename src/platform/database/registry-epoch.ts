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

/** The constraint name in conflicts of {@link assertRightsSql}. */
const TABLE = 'registry_epoch';

/**
 * 0, or an error with SQLSTATE 40001 unless `known` is the current rights epoch: decisions based on an older one must
 * not be stored. Null is not compared.
 */
export const assertRightsSql = (known: string): string =>
  `case when (select rights_epoch from ${TABLE}) <> ${known} then refuse_outdated_rights() else 0 end`;

/**
 * The registry epoch and the rights epoch tell when cached registries (policies, topics, the compartment) and rights
 * must be reloaded. The transaction that changes them raises the number. Each request reads both with the caller's
 * Session, so a change applies on every replica to each request that begins after its response.
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
   * Raises both epochs once, at the very end of the open transaction: then writers of registries queue only for the
   * commit.
   */
  raise(): void {
    this.raiseAtEnd('registries');
  }

  /** Raises only the rights epoch; registries stay valid. */
  raiseRights(): void {
    this.raiseAtEnd('rights');
  }

  /**
   * Whether rights are read again for each decision instead of being cached by epoch. That is so if the open
   * transaction changes them, or the request has already restarted once: if rights change faster than the request runs,
   * it must still end.
   */
  get isReadAnew(): boolean {
    return this.requests.isStartedOver || this.unitOfWork.hasGathered(this.raisedHere);
  }

  /** The epoch that {@link assertRightsSql} compares with decisions of this request; null if rights are read again. */
  async rightsToHold(): Promise<number | null> {
    return this.isReadAnew ? null : (await this.current()).rights;
  }

  /**
   * The epochs of this request. In background work, and after a restart of the transaction, they are read from the
   * database.
   */
  async current(): Promise<Epochs> {
    return this.requests.epochs ?? this.readAgain();
  }

  /** The current epochs, which the request uses from now on. */
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

/** A value derived from stored resources, which is reloaded when the epoch changes. */
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

  /** The value last loaded; it may be older than the request's epoch. */
  get newest(): T | undefined {
    return this.kept?.value;
  }

  /** Marks the value as outdated: the next use reloads it. */
  forget(): void {
    this.kept = undefined;
    this.loading = undefined;
  }

  private loadToKeep(epoch: number): Promise<T> {
    if (this.loading === undefined || this.loading.epoch < epoch) {
      // Other requests wait for the same load, so it must not end with the request that started it.
      const loading = { epoch, value: this.unitOfWork.outside(this.load) };
      this.loading = loading;
      // A failed load is not cached: the next request tries again.
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
   * Loads on the transaction's connection. Waiting for a second connection could deadlock, if the holders of
   * connections wait for its row locks. The transaction may read its own epoch, which can be rolled back, so the value
   * is not cached.
   */
  private loadForTransaction(): Promise<T> {
    this.unitOfWork.afterCommit(() => this.get());
    return this.load();
  }
}
