import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { type FieldRow, type FieldValue } from './body';
import css from './field-table.module.css';

interface Props<Row extends FieldRow> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** Renders what is shown below the value of a row. */
  readonly below?: (row: Row) => ReactNode;
  /** The text of a reference with the name of its target. */
  readonly referenceText?: (text: string) => string;
  /** Renders all rows, for printing. */
  readonly isWhole?: boolean;
}

/** The number of rows up to which a table is rendered completely, for the browser's search and printing. */
const ROWS_AT_ONCE = 200;
/** Estimated heights of rows. The visible rows are measured. */
const ROW_HEIGHT = 34;
const CHANGED_ROW_HEIGHT = 52;

const SAYINGS: Readonly<Record<FieldRow['type'], string | undefined>> = {
  recorded: undefined,
  added: 'added',
  removed: 'removed',
  changed: 'changed',
  respelled: 'same number, other digits',
  reordered: 'same elements, other order',
};

/** Fields with their values; a change shows the values before and after. Long tables render only visible rows. */
export function FieldTable<Row extends FieldRow>(props: Props<Row>): ReactElement {
  const { label, rows, below, referenceText, isWhole = false } = props;
  if (isWhole || rows.length <= ROWS_AT_ONCE)
    return (
      <div className={css.table} role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <Head />
        <div role="rowgroup">
          {rows.map((row, index) => (
            <FieldLine key={index} row={row} below={below?.(row)} index={index} referenceText={referenceText} />
          ))}
        </div>
      </div>
    );
  return <LongTable {...props} />;
}

const Head = (): ReactElement => (
  <div role="row" aria-rowindex={1} className={css.head}>
    <span role="columnheader">Field</span>
    <span role="columnheader">Value</span>
  </div>
);

function LongTable<Row extends FieldRow>({ label, rows, below, referenceText }: Props<Row>): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.type === 'recorded' ? ROW_HEIGHT : CHANGED_ROW_HEIGHT),
    overscan: 10,
  });
  return (
    <div
      ref={scroller}
      className={`${css.table} ${css.long}`}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      onKeyDown={(event) => {
        // Smooth scrolling would stop half-way when rows are measured.
        if (event.key !== 'Home' && event.key !== 'End') return;
        virtual.scrollToIndex(event.key === 'Home' ? 0 : rows.length - 1);
        event.preventDefault();
      }}
    >
      <Head />
      <div role="rowgroup" className={css.body} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <div
              key={index}
              role="presentation"
              ref={virtual.measureElement}
              data-index={index}
              className={css.place}
              style={{ transform: `translateY(${start}px)` }}
            >
              <FieldLine row={row} below={below?.(row)} index={index} referenceText={referenceText} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function FieldLine({
  row,
  below,
  index,
  referenceText,
}: {
  readonly row: FieldRow;
  readonly below: ReactNode;
  readonly index: number;
  readonly referenceText: ((text: string) => string) | undefined;
}): ReactElement {
  const { type, path, label, old, new: now } = row;
  const saying = SAYINGS[type];
  return (
    <div role="row" aria-rowindex={index + 2} className={`${css.line} ${css[type] ?? ''}`}>
      <span role="rowheader" title={path.join('.')}>
        <Steps label={label} />
        {saying !== undefined && <span className={css.changeMark}>{saying}</span>}
      </span>
      <span role="cell" className={css.fieldValue}>
        {type === 'recorded' ? (
          <Value value={now} referenceText={referenceText} />
        ) : (
          <span className={css.change}>
            {old !== undefined && (
              <del>
                <Value value={old} referenceText={referenceText} />
              </del>
            )}
            {old !== undefined && now !== undefined && (
              <span className={css.arrow} aria-hidden="true">
                →
              </span>
            )}
            {now !== undefined && (
              <ins>
                <Value value={now} referenceText={referenceText} />
              </ins>
            )}
          </span>
        )}
        {below}
      </span>
    </div>
  );
}

const Steps = ({ label }: { readonly label: readonly string[] }): ReactElement => (
  <span className={css.steps}>
    {label.slice(0, -1).map((step, index) => (
      <span key={index} className={css.outer}>
        {step} <span aria-hidden="true">›</span>{' '}
      </span>
    ))}
    {label.at(-1)}
  </span>
);

/** The number of characters that are shown at first. Longer texts are expanded on demand. */
const TEXT_AT_ONCE = 600;
/**
 * The maximum number of characters of an expanded text: megabytes in one element block the page. The JSON view shows
 * everything.
 */
const TEXT_OPENED = 20_000;

function Value({
  value,
  referenceText,
}: {
  readonly value: FieldValue | undefined;
  readonly referenceText: ((text: string) => string) | undefined;
}): ReactElement {
  if (value === undefined) return <></>;
  const { kind, unit } = value;
  const text = kind === 'reference' && referenceText !== undefined ? referenceText(value.text) : value.text;
  if (kind === undefined && text.trim() === '')
    return <span className="faint">{text === '' ? 'empty text' : `${text.length} blank characters`}</span>;
  return (
    <>
      {text.length <= TEXT_AT_ONCE ? (
        <span className={kind === undefined ? css.value : `${css.value} ${css[kind] ?? ''}`}>{text}</span>
      ) : (
        <LongText text={text} />
      )}
      {unit !== undefined && <span className={css.unit}> {unit}</span>}
    </>
  );
}

const LongText = ({ text }: { readonly text: string }): ReactElement => (
  <details className={css.longText}>
    <summary>
      {text.slice(0, 200)}… <span className="faint">({text.length.toLocaleString('en')} characters)</span>
    </summary>
    {text.slice(0, TEXT_OPENED)}
    {text.length > TEXT_OPENED && <span className="faint">… the rest is in the JSON</span>}
  </details>
);
