import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactElement, type Ref, useImperativeHandle, useRef, useState } from 'react';
import { goTo, hashOf } from '../../app/routes';
import { whole } from '../../parts/numbers';
import { type TimelineRow } from './timeline';
import { type TimelineView } from './timeline-reader';
import css from './patients.module.css';

export interface ListHandle {
  readonly jump: (row: number) => void;
}

interface Props {
  readonly ref: Ref<ListHandle>;
  readonly patientId: string;
  readonly view: TimelineView;
  readonly opened: { readonly type: string; readonly id: string } | undefined;
}

const ROW_HEIGHT = 36;

/** The visible rows. The Tab key stops once; arrow keys move between entries, and Enter opens one. */
export function TimelineList({ ref, patientId, view: { timeline }, opened }: Props): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(1);
  const { length } = timeline;
  const virtual = useVirtualizer({
    count: length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  useImperativeHandle(ref, () => ({
    jump: (row) => {
      virtual.scrollToIndex(row, { align: 'start' });
      setActive(Math.min(row + 1, timeline.length - 1));
    },
  }));
  const open = (row: TimelineRow | undefined): void => {
    if (row?.kind === 'entry') goTo(hashOf('patients', [patientId, row.entry.type, row.entry.id]));
  };
  const move = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -length,
      End: length,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      const down = step > 0;
      let next = Math.max(0, Math.min(length - 1, active + step));
      // The header of a month cannot be opened.
      if (timeline.row(next)?.kind === 'month')
        next = Math.max(1, Math.min(length - 1, next + (down ? 1 : next === 0 ? 1 : -1)));
      setActive(next);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter') open(timeline.row(active));
    else return;
    event.preventDefault();
  };
  const items = virtual.getVirtualItems();
  return (
    <div
      ref={scroller}
      className={css.timelineList}
      role="listbox"
      aria-label="Resources, the latest first"
      tabIndex={0}
      onKeyDown={move}
      aria-activedescendant={items.some(({ index }) => index === active) ? rowId(active) : undefined}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, start }) => {
          const row = timeline.row(index);
          if (row === undefined) return null;
          const style = { transform: `translateY(${start}px)`, height: ROW_HEIGHT };
          if (row.kind === 'month')
            return (
              <div key={index} role="presentation" className={css.month} style={style}>
                {monthName(row.month)} <span className={css.count}>{whole(row.count)}</span>
              </div>
            );
          const { type, id, date, isCareDate, label } = row.entry;
          const isOpened = opened?.type === type && opened.id === id;
          return (
            <div
              key={index}
              id={rowId(index)}
              role="option"
              aria-selected={isOpened}
              aria-setsize={length}
              aria-posinset={index + 1}
              className={index === active ? `${css.entry} ${css.active}` : css.entry}
              style={style}
              onClick={() => {
                setActive(index);
                open(row);
              }}
            >
              <span className={css.day} title={isCareDate ? date : `${date}: last update, it has no date of care`}>
                {dayIn(date)}
              </span>
              <span className={css.what}>
                <span className={css.typeName}>{type}</span> {label}
                {!isCareDate && <span className="faint"> · updated, no date of care</span>}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

const rowId = (index: number): string => `timeline-row-${index}`;

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function monthName(month: string): string {
  const [, year, number] = /^(\d{4})-(\d{2})$/.exec(month) ?? [];
  return year === undefined ? month : `${MONTHS[Number(number) - 1] ?? ''} ${year}`;
}

/** Day and time of a date as sent, without the year and month of its group. */
function dayIn(date: string): string {
  const [, day, time] = /^\d{4}-\d{2}-(\d{2})(?:T(\d{2}:\d{2}))?/.exec(date) ?? [];
  return day === undefined ? date : time === undefined ? day : `${day}, ${time}`;
}
