import { Injectable } from '@nestjs/common';
import { Ambient } from '../ambient';
import { RequestContext } from '../request/request-context';
import { type Epochs } from '../request/epochs';
import { KeptOn } from '../kept-on';
import { putNewest } from '../memoized';
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

/** The table of the epochs. Its name is also the constraint name in conflicts of {@link assertRightsSql}. */
const TABLE = 'registry_epoch';

/**
 * SQL that yields 0 if `known` is null or the current rights epoch. Otherwise it fails with SQLSTATE 40001: decisions
 * that were made at an older epoch must not be stored.
 */
export const assertRightsSql = (known: string): string =>
  `case when (select rights_epoch from ${TABLE}) <> ${known} then refuse_outdated_rights() else 0 end`;

/**
 * Two numbers in the database. The registry epoch says when cached registries (policies, topics, the compartment) must
 * be reloaded. The rights epoch says when cached rights must be reloaded. A transaction that changes registries or
 * rights raises the number. Each request reads both numbers together with the caller's Session. So a change applies on
 * every replica to each request that begins after the response to the change.
 */
@Injectable()
export class RegistryEpoch {
  private readonly raisedHere = Symbol('registry-epoch');

  constructor(
    private readonly statements: Statements,
    readonly unitOfWork: UnitOfWork,
    private readonly requests: RequestContext,
  ) {}

  /**
   * Raises both epochs, or only the rights epoch, so that cached registries stay valid. The update is the last
   * statement of the open transaction, so that writers wait for each other only during the commit.
   */
  raise(what: keyof Epochs = 'registries'): void {
    this.requests.noteCallerChange();
    const raise = async (raised: readonly (keyof Epochs)[]): Promise<void> => {
      await this.statements.run(raised.includes('registries') ? RAISE : RAISE_RIGHTS, []);
    };
    this.unitOfWork.gather(this.raisedHere, what, raise, true);
  }

  /**
   * Whether rights are read again for each decision instead of being cached by epoch. This is true if the open
   * transaction changes rights. It is also true if the request has restarted once: a request must end even if rights
   * change faster than it runs.
   */
  get isReadAnew(): boolean {
    return this.requests.isStartedOver || this.unitOfWork.hasGathered(this.raisedHere);
  }

  /** The rights epoch of this request for {@link assertRightsSql}; null if rights are read for each decision. */
  async rightsToHold(): Promise<number | null> {
    return this.isReadAnew ? null : (await this.current()).rights;
  }

  /**
   * Returns the epochs of this request. In background work, and after a restart of the transaction, they are read from
   * the database.
   */
  async current(): Promise<Epochs> {
    return this.requests.epochs ?? this.readAgain();
  }

  /** Reads the current epochs. The request uses them from now on. */
  async readAgain(): Promise<Epochs> {
    const row = await this.statements.runOne<{ epoch: number; rights_epoch: number }>(READ, []);
    const epochs = { registries: row?.epoch ?? 0, rights: row?.rights_epoch ?? 0 };
    this.requests.keepEpochs(epochs);
    return epochs;
  }
}

interface Loaded<T> {
  readonly epoch: number;
  readonly value: T;
}

/** A cached value derived from stored resources. It is reloaded when the registry epoch changes. */
export class CachedRegistry<T> {
  private kept: Loaded<T> | undefined;
  private loading: Loaded<Promise<T>> | undefined;
  /** The values of open transactions. */
  private ofUnits = new KeptOn<object, Promise<T>>();

  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly load: () => Promise<T>,
  ) {}

  async get(): Promise<T> {
    const { registries: epoch } = await this.epoch.current();
    if (this.kept !== undefined && this.kept.epoch >= epoch) return this.kept.value;
    const { unit } = this.epoch.unitOfWork;
    return unit === undefined ? this.loadToKeep(epoch) : this.valueFor(unit);
  }

  /** The value that was loaded last, perhaps at an older epoch than the request's. */
  get newest(): T | undefined {
    return this.kept?.value;
  }

  forget(): void {
    this.kept = undefined;
    this.loading = undefined;
    this.ofUnits = new KeptOn();
  }

  private loadToKeep(epoch: number): Promise<T> {
    if (this.loading === undefined || this.loading.epoch < epoch) {
      // Other requests wait for this load, so it must not end with the request that started it.
      const loading = { epoch, value: Ambient.outside(this.load) };
      this.loading = loading;
      // A failed load is not cached, so the next request tries again.
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
   * Loads the value on the connection of the open transaction. Waiting for a second connection could deadlock, if all
   * connections are used by transactions that wait for row locks of this one. The value is cached only for this
   * transaction, since the transaction may have changed it and can be rolled back. It is loaded once: a load for each
   * entry of a Bundle would read all topics for each of them.
   */
  private valueFor(unit: object): Promise<T> {
    const found = this.ofUnits.get(unit);
    if (found !== undefined) return found;
    this.epoch.unitOfWork.afterCommit(() => this.get());
    const value = this.load();
    this.ofUnits.set(unit, value);
    return value;
  }
}

/** Beyond this number, the oldest value is dropped. */
const MOST_KEPT = 1_000;

/**
 * A cache of values derived from stored Users, Clients and Roles, valid for one rights epoch. Each write of such a
 * resource raises the epoch. So a change applies on every replica to each request that begins after the response to the
 * change.
 */
export class KeptByRights<T> {
  private readonly kept = new Map<string, { readonly rights: number; readonly value: T }>();

  /** @param isSmall whether a value is cached. `undefined` never is, since a caller could invent any number of keys */
  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly read: (key: string) => Promise<T>,
    private readonly isSmall: (value: NonNullable<T>) => boolean = () => true,
  ) {}

  /** Returns the value as of the request's rights epoch, or as the open transaction has changed it. */
  async get(key: string): Promise<T> {
    const { unitOfWork, isReadAnew } = this.epoch;
    if (isReadAnew) return this.read(key);
    const { rights } = await this.epoch.current();
    const found = this.kept.get(key);
    if (found !== undefined && found.rights >= rights) return found.value;
    const value = await this.read(key);
    // A transaction may have read the value from a snapshot that is older than the epoch. So this value is not cached,
    // but read again after the commit.
    if (unitOfWork.isOpen) unitOfWork.afterCommit(() => this.get(key));
    else if (value !== undefined && value !== null && this.isSmall(value))
      putNewest(this.kept, key, { rights, value }, MOST_KEPT);
    return value;
  }
}
