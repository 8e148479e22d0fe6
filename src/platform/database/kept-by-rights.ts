import { type RegistryEpoch } from './registry-epoch';
import { type UnitOfWork } from './unit-of-work';

/** Above it the value that was kept first is forgotten. */
const MOST = 1_000;

/**
 * Values by a key, made of stored Users, Clients and Roles. They are kept while the epoch of rights stays: each write
 * of one of these raises it, so a change counts on every replica for each request that begins after its answer.
 */
export class KeptByRights<T> {
  private readonly kept = new Map<string, { readonly rights: number; readonly value: T }>();

  /**
   * @param read what is stored now
   * @param isKept refuses large values, and those of unknown keys, of which a caller could make up any number
   */
  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
    private readonly read: (key: string) => Promise<T>,
    private readonly isKept: (value: T) => boolean,
  ) {}

  /** As of the epoch of rights of the request, or as the open transaction has changed it. */
  async get(key: string): Promise<T> {
    if (this.epoch.isReadAnew) return this.read(key);
    const { rights } = await this.epoch.current();
    const found = this.kept.get(key);
    if (found !== undefined && found.rights >= rights) return found.value;
    const value = await this.read(key);
    // A transaction may have read it from a snapshot that is older than the epoch: only the next one is kept.
    if (this.unitOfWork.isOpen) this.unitOfWork.afterCommit(() => this.get(key));
    else if (this.isKept(value)) this.keep(key, rights, value);
    return value;
  }

  private keep(key: string, rights: number, value: T): void {
    this.kept.delete(key);
    this.kept.set(key, { rights, value });
    const [first] = this.kept.keys();
    if (this.kept.size > MOST && first !== undefined) this.kept.delete(first);
  }
}
