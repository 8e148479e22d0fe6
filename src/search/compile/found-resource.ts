import { earlyBody, type ListedVersion } from '../../store/late-texts';

/** A resource of a page, with the values by which further includes are found. */
export interface FoundResource extends ListedVersion {
  readonly bytes: number;
  readonly key: number;
  readonly referenceHash: number;
}

export interface FoundRow {
  readonly resource_key: number;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly reference_hash: number;
  readonly bytes: number;
  readonly body: string | null;
}

/** The columns of `resource` in a page, beside the body. */
export const FOUND_COLUMNS = ['resource_key', 'type', 'id', 'version', 'reference_hash'];

/**
 * SQL columns of the resources in a page; only the first bodies are among them, see {@link earlyBody}.
 * @param order `order by …` of the rows; empty if they are already in order
 */
export const foundColumns = (alias: string, order: string): string =>
  `${FOUND_COLUMNS.map((column) => `${alias}.${column}`).join(', ')}, ${earlyBody(alias, order)}`;

export const foundResourceOf = (row: FoundRow): FoundResource => ({
  type: row.type,
  id: row.id,
  version: row.version,
  bytes: row.bytes,
  text: row.body ?? undefined,
  key: row.resource_key,
  referenceHash: row.reference_hash,
});
