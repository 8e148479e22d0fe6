import { elementsOf } from '../../platform/json/json-members';
import { unquoted } from '../../platform/json/json-skip';
import { type FieldRow, type FieldRows } from './field-rows';
import { type Html, markup, NOTHING, spelledOut } from './html';
import { type FieldValue } from './snapshot-fields';

export interface TableForm {
  readonly name: 'values' | 'changes';
  readonly columns: readonly string[];
  readonly cells: (row: FieldRow) => Iterable<Html>;
}

export const VALUES: TableForm = {
  name: 'values',
  columns: ['Field', 'Value'],
  cells: ({ new: now }) => [markup`<td role="cell">${value(now)}</td>`],
};

export const CHANGES: TableForm = { name: 'changes', columns: ['Field', 'Before', 'After'], cells: changedCells };

/** Narrow screens show cells below each other, so each has the role and the name of its column. */
const BEFORE = markup`<td role="cell" data-label="Before">`;
const AFTER = markup`<td role="cell" data-label="After">`;

const WHAT: Readonly<Record<FieldRow['type'], string>> = {
  recorded: '',
  added: 'Added',
  removed: 'Removed',
  changed: 'Changed',
  respelled: 'Same number, written differently',
  reordered: 'Same entries, in another order',
};

/** An optional table without rows prints nothing. */
export function* table(
  rows: FieldRows,
  caption: string,
  form: TableForm,
  refusal?: string,
  isOptional = false,
): Generator<string> {
  if (refusal !== undefined) {
    yield markup`<p class="warning">${caption} are too many to be listed. ${refusal}</p>
`.text;
    return;
  }
  let count = 0;
  for (const row of rows) {
    if (row === undefined) {
      yield '';
      continue;
    }
    if (count++ === 0) {
      yield markup`<table class="${form.name}" role="table">
<caption>${caption}</caption>
<thead role="rowgroup">
<tr role="row">${form.columns.map((column) => markup`<th scope="col" role="columnheader">${column}</th>`)}</tr>
</thead>
<tbody role="rowgroup">
`.text;
    }
    const what = WHAT[row.type];
    yield markup`<tr role="row">
<th scope="row" role="rowheader"><bdi>${row.label.join(' › ')}</bdi>${what === '' ? NOTHING : markup`<span class="what">${what}</span>`}<code class="path">${row.path.join(' / ')}</code></th>
`.text;
    for (const piece of form.cells(row)) yield piece.text;
    yield '\n</tr>\n';
  }
  if (count > 0) yield '</tbody>\n</table>\n';
  else if (!isOptional)
    yield markup`<p>${caption}: none.</p>
`.text;
}

function* changedCells({ type, old, new: now }: FieldRow): Generator<Html> {
  if (type === 'reordered') {
    yield BEFORE;
    yield* elements(old);
    yield markup`</td>
${AFTER}`;
    yield* elements(now);
    yield markup`</td>`;
    return;
  }
  const isOtherKind = old !== undefined && now !== undefined && old.kind !== now.kind;
  const [before, after] = [value(old, isOtherKind), value(now, isOtherKind)];
  const isSame = type === 'respelled';
  yield markup`${BEFORE}${isSame || old === undefined ? before : markup`<del>${before}</del>`}</td>
${AFTER}${isSame || now === undefined ? after : markup`<ins>${after}</ins>`}</td>`;
}

/** Prints the elements of an array as a numbered list, each by itself, since there may be many. */
function* elements(array: FieldValue | undefined): Generator<Html> {
  yield markup`<ol>`;
  for (const text of elementsOf(array?.text ?? ''))
    yield markup`<li>${value(text.startsWith('"') ? { text: unquoted(text) } : { text, kind: 'object' })}</li>`;
  yield markup`</ol>`;
}

const ABSENT = markup`<span aria-hidden="true">—</span><span class="hidden">nothing</span>`;

const EMPTY: Readonly<Record<string, string>> = { null: 'null', '{}': 'empty group', '[]': 'empty list' };

/**
 * Prints a value with its unit. An empty value is named, and invisible characters are spelled out.
 * @param withKind adds the kind of the value, for a row in which a text replaced a number or the reverse
 */
export function value(of: FieldValue | undefined, withKind = false): Html {
  if (of === undefined) return ABSENT;
  const { text, kind, unit } = of;
  const shown = kind === undefined ? (text === '' ? 'empty text' : undefined) : EMPTY[text];
  const exact = kind === undefined ? spelledOut(text) : undefined;
  return markup`${shown === undefined ? markup`<bdi>${text}</bdi>` : markup`<em>${shown}</em>`}${unit === undefined ? NOTHING : markup` <bdi>${unit}</bdi>`}${withKind && shown === undefined ? markup` <span class="soft">(${kind ?? 'text'})</span>` : NOTHING}${exact === undefined ? NOTHING : markup`<code class="exact">exactly: ${exact}</code>`}`;
}
