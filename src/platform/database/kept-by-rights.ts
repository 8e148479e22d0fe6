import { type RegistryEpoch } from './registry-epoch';
import { putNewest } from '../memoized';

/** Maximum number of cached values. Beyond it, the oldest value is dropped. */
const MOST = 1_000;

/**
 * A cache of values derived from stored Users, Clients and Roles, valid for one rights epoch. Each write of such a
 * resource raises the epoch. So a change applies on every replica to each request that begins after the response to the
 * change.
 */
export class KeptByRights<T> {
  private readonly kept = new Map<string, { readonly rights: number; readonly value: T }>();

  /**
   * @param read reads the current value
   * @param isKept returns whether a value is cached; false for large values, and for keys that do not exist, since a
   * caller could invent any number of keys
   */
  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly read: (key: string) => Promise<T>,
    private readonly isKept: (value: T) => boolean,
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
    else if (this.isKept(value)) putNewest(this.kept, key, { rights, value }, MOST);
    return value;
  }
}
