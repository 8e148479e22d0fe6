import { changeRows, type FieldRow, type FieldRows, valueRows } from '../../../../src/addendum/page/field-rows';
import { SnapshotFields } from '../../../../src/addendum/page/snapshot-fields';
import { diffSnapshots } from '../../../../src/addendum/snapshots/snapshot-diff';
import { IndentedJson } from '../../../../src/platform/json/indent-json';
import { JsonOutline } from '../../../../src/platform/json/json-outline';
import { type JsonValue, parseLosslessInSteps } from '../../../../src/platform/json/lossless';
import { type Steps } from '../../../../src/platform/time/steps';
import { inSlices } from './in-slices';

export type { FieldRow } from '../../../../src/addendum/page/field-rows';
export type { FieldValue } from '../../../../src/addendum/page/snapshot-fields';

/** Members that the server sets with each version, so that their change is no change by a person. */
const OF_EACH_VERSION = new Set(['meta.versionId', 'meta.lastUpdated']);

/** The number of rows that are made between two pauses. */
const ROWS_AT_ONCE = 64;

/** All values of a body, as the server's page of amendments shows them: numbers as written, with label and unit. */
export function valuesOf(text: string, signal?: AbortSignal): Promise<readonly FieldRow[]> {
  function* steps(): Steps<readonly FieldRow[]> {
    return yield* gathered(valueRows(new SnapshotFields(yield* JsonOutline.of(text))));
  }
  return inSlices(steps(), signal);
}

/**
 * The changes between two versions of a resource, including `meta`, so that a changed tag or security label is visible.
 * The differ omits a top-level `meta`, so the bodies are compared as members of an object.
 */
export async function changesBetween(
  before: string,
  after: string,
  signal?: AbortSignal,
): Promise<readonly FieldRow[]> {
  const [old, now] = [`{"body":${before}}`, `{"body":${after}}`];
  function* steps(): Steps<readonly FieldRow[]> {
    const { entries } = yield* diffSnapshots(old, now);
    const fields = [new SnapshotFields(yield* JsonOutline.of(old)), new SnapshotFields(yield* JsonOutline.of(now))];
    return yield* gathered(changeRows(fields[0] as SnapshotFields, fields[1] as SnapshotFields, entries));
  }
  const rows = await inSlices(steps(), signal);
  return rows
    .map((row) => ({ ...row, path: row.path.slice(1), label: row.label.slice(1) }))
    .filter(({ path }) => !OF_EACH_VERSION.has(path.join('.')));
}

/** A body as a tree whose numbers keep their digits. */
export const treeOf = (text: string, signal?: AbortSignal): Promise<JsonValue> =>
  inSlices(parseLosslessInSteps(text), signal);

/** An indented body for people, with the digits and escapes of the text. */
export function indented(text: string, signal?: AbortSignal): Promise<string> {
  function* steps(): Steps<string> {
    const printer = new IndentedJson();
    const pieces: string[] = [];
    for (const piece of printer.print(text)) {
      pieces.push(piece);
      yield;
    }
    return pieces.join('') + printer.end();
  }
  return inSlices(steps(), signal);
}

function* gathered(rows: FieldRows): Steps<readonly FieldRow[]> {
  const all: FieldRow[] = [];
  for (const row of rows) if (row === undefined || all.push(row) % ROWS_AT_ONCE === 0) yield;
  return all;
}
