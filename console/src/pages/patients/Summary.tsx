import { type ReactElement, useMemo } from 'react';
import { resourceNameOf } from '../../parts/body/references';
import { MAX_SUMMARY_ROWS, type SummaryRow, summaryOf } from '../../parts/body/summary';
import { type Opened } from './resource';
import { ResourceLink } from './ResourceLink';
import css from './patients.module.css';

/** The maximum length of a shown text: a text of megabytes in one element blocks the page. */
const MAX_TEXT = 2000;

export function Summary({ patientId, opened }: { readonly patientId: string; readonly opened: Opened }): ReactElement {
  const rows = useMemo(() => summaryOf(opened.tree), [opened.tree]);
  return (
    <>
      <dl className={css.summary}>
        {rows.map((row) => (
          <Row key={row.key} row={row} patientId={patientId} />
        ))}
      </dl>
      {rows.length >= MAX_SUMMARY_ROWS && <p className="fine">The first {rows.length} lines; the JSON has all.</p>}
    </>
  );
}

function Row({ row, patientId }: { readonly row: SummaryRow; readonly patientId: string }): ReactElement {
  const { label, text, note, reference, depth } = row;
  const target = reference === undefined ? undefined : resourceNameOf(reference);
  const shown =
    text !== undefined && text.length > MAX_TEXT
      ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters; see the JSON)`
      : text;
  return (
    <div className={text === undefined ? css.group : undefined} data-depth={Math.min(depth, 4)}>
      <dt>{label}</dt>
      <dd>
        {target === undefined ? shown : <ResourceLink patientId={patientId} name={target} text={shown ?? ''} />}
        {note !== undefined && <span className={css.note}>{note}</span>}
      </dd>
    </div>
  );
}
