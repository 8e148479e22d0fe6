import { type Steps } from '../platform/time/steps';
import { plainHashOf } from '../search-index/extract/hash';
import { type SearchRows } from '../search-index/extract/search-rows';
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
export function* indexDigestsOf({ version, parametersVersion, mainDate, rows }: IndexedVersion): Steps<string> {
  const shared = `${mainDate.getTime()}`;
  let digests = versionsOf(version, parametersVersion);
  for (const { columns } of INDEX_TABLES) {
    let text = shared;
    let isEmpty = true;
    for (const [, , valuesOf] of columns) {
      const values = valuesOf(rows);
      isEmpty &&= values.length === 0;
      // NUL cannot occur in a value.
      text += `\0\0${values.join('\0')}`;
      if (!isEmpty) yield;
    }
    digests += isEmpty ? ' ' : ` ${plainHashOf(text).toString(36)}`;
  }
  return digests;
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
