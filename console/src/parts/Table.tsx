import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import css from './table.module.css';

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  /** Width as a CSS grid track: `120px`, `minmax(140px, 2fr)`. */
  readonly width?: string;
  readonly align?: 'end';
  /** Whether narrow pages hide the column. */
  readonly isWide?: boolean;
  /** @param isNarrow whether columns are left out */
  readonly render: (row: Row, isNarrow: boolean) => ReactNode;
}

interface Props<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The height of a row; where texts wrap, its minimum. */
  readonly rowHeight?: number;
  /** Whether cells break their text into lines, so that no text is cut. */
  readonly isWrapped?: boolean;
  /** Called by a click or Enter on a row; without it rows cannot be opened. */
  readonly onOpen?: (row: Row) => void;
  /** Called when the last row becomes visible, to load more rows. */
  readonly onEnd?: () => void;
  /** Total number of rows, if more can be loaded. */
  readonly total?: number | undefined;
}

const NARROW = '(max-width: 719px)';

/** A table of any length: only visible rows are rendered. */
export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
  rowHeight = 36,
  isWrapped = false,
  onOpen,
  onEnd,
  total,
}: Props<Row>): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState(0);
  const isNarrow = useMedia(NARROW);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 1) onEnd?.();
  }, [last, rows.length, onEnd]);

  const shown = columns.filter(({ isWide }) => !(isNarrow && isWide === true));
  // On a narrow screen columns share the width, and texts break into lines: nothing is out of sight.
  const wraps = isWrapped || isNarrow;
  const template = shown
    .map(({ width = 'minmax(90px, 1fr)' }) => (isNarrow ? width.replace(/minmax\(\d+px/, 'minmax(0') : width))
    .join(' ');
  const move = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(rows.length - 1, to));
      setActive(next);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter' && rows[active] !== undefined) onOpen?.(rows[active]);
    else return;
    event.preventDefault();
  };

  const isGrid = onOpen !== undefined;
  return (
    <div
      ref={scroller}
      className={`${css.table} ${isGrid ? css.openable : ''} ${wraps ? css.wrapped : ''}`}
      role={isGrid ? 'grid' : 'table'}
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      aria-colcount={shown.length}
      tabIndex={0}
      onKeyDown={isGrid ? move : undefined}
      aria-activedescendant={isGrid && items.some(({ index }) => index === active) ? `${id}-${active}` : undefined}
    >
      <div className={css.inner} role="presentation">
        <div className={css.head} role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {shown.map(({ key, label: name, align }) => (
            <span key={key} role="columnheader" className={align && css[align]}>
              {name}
            </span>
          ))}
        </div>
        <div className={css.body} role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, size }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={keyOf(row)}
                id={`${id}-${index}`}
                {...(wraps ? { ref: virtual.measureElement, 'data-index': index } : {})}
                role="row"
                aria-rowindex={index + 2}
                className={index === active ? `${css.row} ${css.active}` : css.row}
                style={{
                  gridTemplateColumns: template,
                  [wraps ? 'minHeight' : 'height']: wraps ? rowHeight : size,
                  transform: `translateY(${start}px)`,
                }}
                onClick={
                  onOpen === undefined
                    ? undefined
                    : () => {
                        setActive(index);
                        onOpen(row);
                      }
                }
              >
                {shown.map(({ key: column, align, render }) => (
                  <span key={column} role={isGrid ? 'gridcell' : 'cell'} className={align && css[align]}>
                    {render(row, isNarrow)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const listen = (): void => {
      setHolds(media.matches);
    };
    listen();
    media.addEventListener('change', listen);
    return () => {
      media.removeEventListener('change', listen);
    };
  }, [query]);
  return holds;
}
