import { type Steps } from '../platform/time/steps';
import { type RowHashes } from '../search-index/extract/row-hashes';
import { type ColumnValues, INDEX_TABLES } from './search-tables';

const ROWS_AT_ONCE = 2048;

interface IndexedVersion {
  readonly version: number;
  readonly parametersVersion: number;
  readonly mainDate: Date;
  readonly columns: readonly ColumnValues[];
}

/**
 * Makes the text of digests that is stored with a resource. It begins with the versions of the resource and of the
 * parameters, followed by one digest for each index table (empty without rows). An update compares digests and skips
 * the tables whose rows stay the same. So it neither reads the stored rows nor computes them again (ADR 0043).
 */
export function* indexDigestsOf(
  { version, parametersVersion, mainDate, columns }: IndexedVersion,
  hashes: RowHashes,
): Steps<string> {
  let digests = versionsText(version, parametersVersion);
  for (const table of columns.slice(0, INDEX_TABLES.length)) {
    const count = table[0]?.length ?? 0;
    let digest = `${mainDate.getTime()}`;
    // Each digest includes that of the rows before, so a long table is hashed in chunks with pauses.
    for (let from = 0; from < count; from += ROWS_AT_ONCE) {
      if (from > 0) yield;
      digest = hashes.ofText(textOf(table, from, digest)).toString(36);
    }
    digests += count === 0 ? ' ' : ` ${digest}`;
  }
  return digests;
}

/** The text of some rows, for a digest. Its separator is NUL, which no value contains. */
function textOf(table: ColumnValues, from: number, before: string): string {
  let text = before;
  for (const values of table) {
    const some = values.length <= ROWS_AT_ONCE ? values : values.slice(from, from + ROWS_AT_ONCE);
    text += `\0\0${some.join('\0')}`;
  }
  return text;
}

/**
 * Whether the rows of each index table stay the same. Stored digests count only if they were made for the stored
 * version of the resource and the current version of the parameters. Otherwise an index job, or a server without
 * digests, may have changed rows since.
 */
export function unchangedTables(
  stored: { readonly version: number; readonly indexDigests: string | null },
  { parametersVersion, indexDigests }: { readonly parametersVersion: number; readonly indexDigests: string },
): readonly boolean[] {
  const [versions, ...known] = (stored.indexDigests ?? '').split(' ');
  const [, ...wanted] = indexDigests.split(' ');
  const isValid = versions === versionsText(stored.version, parametersVersion);
  return wanted.map((digest, index) => isValid && known[index] === digest);
}

const versionsText = (version: number, parametersVersion: number): string => `${version}.${parametersVersion}`;
