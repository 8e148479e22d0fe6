import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { ServiceError } from '../platform/errors/service-error';
import { notStored } from './not-stored';
import {
  HAS_HISTORY,
  READ_CURRENT,
  READ_ALL_OF_TYPE,
  READ_MANY,
  READ_VERSION,
  READ_VERSIONS,
  type ResourceRow,
  storedResourceOf,
  storedVersionOf,
  type VersionRow,
} from './resource-statements';
import { type StoredResource, type StoredVersion } from '../model/stored-resource';

/** The name of one version of one resource. */
export interface VersionKey {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/**
 * Reads resources and their history. It checks no access rights: its callers must do so, and internal callers see
 * everything.
 * @example
 * const { text, version } = await reader.read('Patient', 'p7');
 */
@Injectable()
export class ResourceReader {
  /** @internal */
  constructor(private readonly statements: Statements) {}

  async find(type: string, id: string): Promise<StoredResource | undefined> {
    const row = await this.statements.runOne<ResourceRow>(READ_CURRENT, [type, id]);
    return row === undefined ? undefined : storedResourceOf(row);
  }

  /**
   * Reads the current version.
   * @throws ServiceError 'not-found', or 'gone' if the resource was deleted
   */
  async read(type: string, id: string): Promise<StoredResource> {
    const found = await this.find(type, id);
    if (found !== undefined) return found;
    throw notStored(type, id, await this.wasStored(type, id));
  }

  /** Finds the current versions of `ids`, in no particular order. Ids that are not stored are left out. */
  async findMany(type: string, ids: readonly string[]): Promise<StoredResource[]> {
    return (await this.statements.run<ResourceRow>(READ_MANY, [type, ids])).map(storedResourceOf);
  }

  /** Lists all resources of a type by id. It serves small registries (policies, topics) and never clinical types. */
  async list(type: string): Promise<StoredResource[]> {
    return (await this.statements.run<ResourceRow>(READ_ALL_OF_TYPE, [type])).map(storedResourceOf);
  }

  /**
   * Reads one version.
   * @throws ServiceError 'not-found' for a version that never existed, 'gone' for the version of a deletion
   */
  async readVersion(type: string, id: string, version: number): Promise<StoredResource> {
    const row = await this.statements.runOne<VersionRow>(READ_VERSION, [type, id, version]);
    if (row === undefined)
      throw new ServiceError(
        'version-not-found',
        `Resource ${type}/${id} has no version ${version}. GET /${type}/${id}/_history lists its versions.`,
      );
    if (row.body === null) throw notStored(type, id, true);
    return storedResourceOf({ ...row, body: row.body });
  }

  /**
   * Finds exact versions, in the order of `keys`. Nothing removes versions from the history, so all versions that were
   * written exist.
   */
  async findVersions(keys: readonly VersionKey[]): Promise<StoredVersion[]> {
    const columns = [keys.map(({ type }) => type), keys.map(({ id }) => id), keys.map(({ version }) => version)];
    return (await this.statements.run<VersionRow>(READ_VERSIONS, columns)).splice(0).map(storedVersionOf);
  }

  /**
   * Checks that the resource is stored or was deleted.
   * @throws ServiceError 'not-found' if it never existed
   */
  async assertWas(type: string, id: string): Promise<void> {
    if ((await this.find(type, id)) === undefined && !(await this.wasStored(type, id)))
      throw notStored(type, id, false);
  }

  /**
   * Whether a version of the resource is in the history.
   * @internal
   */
  async wasStored(type: string, id: string): Promise<boolean> {
    return (await this.statements.runOne<{ was_stored: boolean }>(HAS_HISTORY, [type, id]))?.was_stored === true;
  }
}
