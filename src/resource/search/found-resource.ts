import { type ResourceText } from '../stored-resource';

/** A resource of a page or included into it, with what its links are found by. */
export interface FoundResource extends ResourceText {
  readonly key: number;
  readonly referenceHash: number;
}

/** A row of a statement that reads resources. */
export interface ResourceRow {
  readonly resource_key: number;
  readonly type: string;
  readonly id: string;
  readonly reference_hash: number;
  readonly body: string;
  readonly [column: string]: unknown;
}

export const foundResourceOf = (row: ResourceRow): FoundResource => ({
  type: row.type,
  id: row.id,
  text: row.body,
  key: row.resource_key,
  referenceHash: row.reference_hash,
});
