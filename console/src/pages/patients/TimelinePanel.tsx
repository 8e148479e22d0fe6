import { type ReactElement, useMemo, useRef, useState } from 'react';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { whole } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';
import { type ListHandle, TimelineList } from './TimelineList';
import { FULL, type TimelineView } from './timeline-reader';
import css from './patients.module.css';

interface Props {
  readonly patientId: string;
  readonly view: TimelineView;
  readonly opened: { readonly type: string; readonly id: string } | undefined;
  readonly onStop: () => void;
  readonly onRead: () => void;
  readonly onChoose: (types: ReadonlySet<string> | undefined) => void;
}

export function TimelinePanel({ patientId, view, opened, onStop, onRead, onChoose }: Props): ReactElement {
  const { state, timeline, remarks, error } = view;
  const list = useRef<ListHandle>(null);
  const isEmpty = timeline.size === 0 && state !== 'reading' && state !== 'failed';
  return (
    <Panel
      title="Timeline"
      className={css.timeline}
      actions={
        state === 'reading' ? (
          <button type="button" className="button small" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="button" className="button quiet small" onClick={onRead}>
            Read again
          </button>
        )
      }
    >
      <Progress view={view} />
      {state === 'failed' && <Fault error={error} what="the whole timeline" onRetry={onRead} />}
      {remarks.length > 0 && (
        <div className="banner" role="note">
          {remarks.map((remark) => (
            <p key={remark}>{remark}</p>
          ))}
        </div>
      )}
      {timeline.size > 0 && (
        <>
          <Types counts={timeline.countsByType()} onChoose={onChoose} />
          <Years view={view} onJump={(row) => list.current?.jump(row)} />
          <TimelineList ref={list} patientId={patientId} view={view} opened={opened} />
        </>
      )}
      {isEmpty && (
        <Empty title="Nothing belongs to this patient">
          A resource belongs to a patient by the parameters of CompartmentDefinition/patient, such as
          Observation.subject.
        </Empty>
      )}
    </Panel>
  );
}

function Progress({ view: { state, timeline, seconds } }: { readonly view: TimelineView }): ReactElement {
  const count = `${whole(timeline.size)} ${timeline.size === 1 ? 'resource' : 'resources'}`;
  const sayings = {
    reading: `Reading… ${count} so far`,
    complete: `${count}, all that belongs to this patient and that you may see; read in ${seconds.toFixed(1)} s`,
    stopped: `Stopped at ${count}: the list is not complete`,
    full: `${FULL} It is not complete: search for the rest by type.`,
    failed: `${count} until the answer broke off: the list is not complete`,
  };
  return (
    <div className={css.progress}>
      {state === 'reading' && <progress aria-label="Reading the timeline" />}
      <p className="fine" aria-live={state === 'reading' ? 'off' : 'polite'}>
        {sayings[state]}
      </p>
    </div>
  );
}

interface TypesProps {
  readonly counts: readonly (readonly [string, number])[];
  readonly onChoose: (types: ReadonlySet<string> | undefined) => void;
}

/** The number of types that fit into two lines. Further types are collapsed. */
const TYPES_AT_ONCE = 8;

function Types({ counts, onChoose }: TypesProps): ReactElement {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isOpen, setIsOpen] = useState(false);
  const choose = (types: ReadonlySet<string>): void => {
    setChosen(types);
    onChoose(types.size === 0 ? undefined : types);
  };
  const shown = isOpen ? counts : counts.filter(([type], index) => index < TYPES_AT_ONCE || chosen.has(type));
  const more = counts.length - shown.length;
  return (
    <div className={css.types} role="group" aria-label="Types shown">
      <button type="button" className={css.type} aria-pressed={chosen.size === 0} onClick={() => choose(new Set())}>
        All
      </button>
      {shown.map(([type, count]) => (
        <button
          key={type}
          type="button"
          className={css.type}
          aria-pressed={chosen.has(type)}
          onClick={() => {
            const next = new Set(chosen);
            if (!next.delete(type)) next.add(type);
            choose(next);
          }}
        >
          {type} <span className={css.count}>{whole(count)}</span>
        </button>
      ))}
      {(more > 0 || isOpen) && counts.length > TYPES_AT_ONCE && (
        <button
          type="button"
          className={`${css.type} ${css.more}`}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Fewer' : `${more} more`}
        </button>
      )}
    </div>
  );
}

/** The width of a year's bar in pixels; with many years, bars are narrower. */
const YEAR_WIDTH = 36;

/**
 * One bar for each year; a click scrolls to that year. Screen readers get the select box instead, which has the same
 * years.
 */
function Years({
  view: { timeline, version },
  onJump,
}: {
  readonly view: TimelineView;
  readonly onJump: (row: number) => void;
}): ReactElement | null {
  // The timeline is a single object that grows, so React sees a change only by its version.
  const years = useMemo(() => yearsOf(timeline.monthStarts(), version), [timeline, version]);
  if (years.length < 2) return null;
  const most = Math.max(...years.map(({ count }) => count));
  return (
    <div className={css.years}>
      <div className={css.yearsPlot} aria-hidden="true" style={{ maxWidth: years.length * YEAR_WIDTH }}>
        <svg viewBox={`0 0 ${years.length * 10} 40`} preserveAspectRatio="none">
          {[...years].reverse().map(({ year, count, row }, index) => {
            const height = Math.max(2, (36 * count) / most);
            return (
              <g key={year} onClick={() => onJump(row)}>
                <title>{`${year}: ${whole(count)}`}</title>
                <rect className={css.yearReach} x={index * 10} y={0} width={10} height={40} />
                <rect className={css.yearBar} x={index * 10 + 1.5} y={40 - height} width={7} height={height} />
              </g>
            );
          })}
        </svg>
        <div className={`${css.yearsEnds} fine`}>
          <span>{years.at(-1)?.year}</span>
          <span>{years[0]?.year}</span>
        </div>
      </div>
      <label>
        <span className="hidden">Go to a year</span>
        <select value="" onChange={({ target }) => onJump(Number(target.value))}>
          <option value="" disabled>
            Go to…
          </option>
          {years.map(({ year, count, row }) => (
            <option key={year} value={row}>
              {year} ({whole(count)})
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface Year {
  readonly year: string;
  count: number;
  readonly row: number;
}

/**
 * @param _version changes when the months change
 */
function yearsOf(
  months: readonly { readonly month: string; readonly count: number; readonly row: number }[],
  _version: number,
): Year[] {
  const years: Year[] = [];
  for (const { month, count, row } of months) {
    const year = /^\d{4}/.test(month) ? month.slice(0, 4) : month;
    const last = years.at(-1);
    if (last?.year === year) last.count += count;
    else years.push({ year, count, row });
  }
  return years;
}
