import { plainHashOf } from '../search/extract/hash';
import { type SearchRows } from '../search/extract/search-rows';
import { INDEX_TABLES } from './search-tables';

/** What the search index rows of a version consist of. */
interface IndexedVersion {
  readonly version: number;
  readonly parametersVersion: number;
  readonly mainDate: Date;
  readonly rows: SearchRows;
}

/** A stored version; null where a server wrote it that knew no digests. */
interface DigestedVersion {
  readonly version: number;
  readonly indexDigests: string | null;
}

/**
 * One digest for each index table, empty without rows, after the versions that they hold for. An update compares them and
 * leaves alone the tables whose rows stay: it neither reads the stored rows nor computes them again (ADR 0043).
 */
export function indexDigestsOf({ version, parametersVersion, mainDate, rows }: IndexedVersion): string {
  const shared = `${mainDate.getTime()}`;
  const digests = INDEX_TABLES.map(({ columns }) => {
    const values = columns.map(([, , valuesOf]) => valuesOf(rows));
    if (values[0]?.length === 0) return '';
    // NUL cannot occur in a value.
    return plainHashOf([shared, ...values.map((column) => column.join('\0'))].join('\0\0')).toString(36);
  });
  return [versionsOf(version, parametersVersion), ...digests].join(' ');
}

/**
 * Whether the rows of each index table stay as they are. Digests of another version of the resource or the parameters
 * prove nothing: an index job, or a server that knows no digests, may have changed rows since.
 */
export function unchangedTables(
  stored: DigestedVersion,
  { parametersVersion, indexDigests }: { readonly parametersVersion: number; readonly indexDigests: string },
): readonly boolean[] {
  const [versions, ...known] = (stored.indexDigests ?? '').split(' ');
  const [, ...wanted] = indexDigests.split(' ');
  const isValid = versions === versionsOf(stored.version, parametersVersion);
  return wanted.map((digest, index) => isValid && known[index] === digest);
}

const versionsOf = (version: number, parametersVersion: number): string => `${version}.${parametersVersion}`;
