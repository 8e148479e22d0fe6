import { type StoredResource, type StoredVersion, type WriteMethod } from '../model/stored-resource';

export interface ResourceRow {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated_at: Date;
  readonly method: WriteMethod;
  readonly body: string;
}

export interface VersionRow extends Omit<ResourceRow, 'body'> {
  readonly body: string | null;
}

export const storedResourceOf = (row: ResourceRow): StoredResource => ({
  type: row.type,
  id: row.id,
  version: row.version,
  updatedAt: row.updated_at,
  method: row.method,
  text: row.body,
});

export function storedVersionOf({ body, ...row }: VersionRow): StoredVersion {
  if (body !== null) return storedResourceOf({ ...row, body });
  return { type: row.type, id: row.id, version: row.version, updatedAt: row.updated_at, method: 'DELETE' };
}
