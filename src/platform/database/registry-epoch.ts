import { Injectable } from '@nestjs/common';
import { RequestContext } from '../http/request-context';
import { type Statement } from './statement';
import { Statements } from './statements';
import { UnitOfWork } from './unit-of-work';

const READ: Statement = { name: 'registry-epoch-read', text: 'select epoch from registry_epoch' };
const RAISE: Statement = {
  name: 'registry-epoch-raise',
  text: 'update registry_epoch set epoch = epoch + 1 returning epoch',
};

/**
 * The number that tells when cached registries (policies, topics, the compartment) must be loaded again.
 * The transaction that changes a registry raises it; each request reads it with the caller's Session, so a change
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

  /** Raises the epoch once, at the end of the open transaction: writers of registries queue only for the commit. */
  raise(): void {
    this.unitOfWork.gather(this.raisedHere, undefined, async () => {
      await this.statements.run(RAISE, []);
    });
  }

  /** The epoch of this request; read from the database in background work. */
  async current(): Promise<number> {
    return this.requests.registryEpoch ?? (await this.statements.runOne<{ epoch: number }>(READ, []))?.epoch ?? 0;
  }
}

/** A value computed from stored resources that is loaded again when the epoch moved. */
export class CachedRegistry<T> {
  private kept: { readonly epoch: number; readonly value: T } | undefined;
  private loading: { readonly epoch: number; readonly value: Promise<T> } | undefined;

  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
    private readonly load: () => Promise<T>,
  ) {}

  async get(): Promise<T> {
    const epoch = await this.epoch.current();
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
      const loading = { epoch, value: this.load() };
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
   * with theirs, could wait for ever. What it sees may be its own and be rolled back, so it is not kept.
   */
  private loadForTransaction(): Promise<T> {
    this.unitOfWork.afterCommit(() => this.get());
    return this.load();
  }
}
