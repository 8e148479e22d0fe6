import { type ReactElement, useDeferredValue, useMemo, useState } from 'react';
import { type DestinationOverview } from 'svc-health-client';
import { goTo, hashOf } from '../../app/routes';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { whole } from '../../parts/numbers';
import { type Column, Table } from '../../parts/Table';
import { ageOf } from '../../parts/times';
import { Waiting } from '../../parts/Waiting';
import { HourBars } from './HourBars';
import { useDestinations } from './use-destinations';
import { verdictOf, waitingOf } from './verdict';
import css from './destinations.module.css';

const STATES = ['all', 'failing', 'held', 'active'] as const;
const NAMES = { all: 'All', failing: 'Failing', held: 'Held', active: 'Active' };

const COLUMNS: readonly Column<DestinationOverview>[] = [
  {
    key: 'id',
    label: 'Destination',
    width: 'minmax(150px, 2fr)',
    render: ({ id, topic = '' }) => (
      <span className={css.name}>
        <a href={hashOf('destinations', [id])} tabIndex={-1} onClick={(event) => event.stopPropagation()}>
          {id}
        </a>
        <span className="fine">{topic}</span>
      </span>
    ),
  },
  {
    key: 'state',
    label: 'State',
    width: 'minmax(84px, 3fr)',
    render: (row) => {
      const { tone, label, text } = verdictOf(row);
      return (
        <span className={css.state}>
          <Badge tone={tone}>{label}</Badge>
          <span className={`faint ${css.why}`}>{tone === 'good' ? '' : text}</span>
        </span>
      );
    },
  },
  {
    key: 'waits',
    label: 'Waiting',
    width: '76px',
    align: 'end',
    render: (row) => `${whole(waitingOf(row))}${row.queuedIsMore === true ? '+' : ''}`,
  },
  {
    key: 'oldest',
    label: 'Oldest',
    width: '76px',
    align: 'end',
    isWide: true,
    render: ({ oldestAgeSeconds }) => (oldestAgeSeconds === undefined ? '' : ageOf(oldestAgeSeconds * 1000)),
  },
  { key: 'hours', label: '24 hours', width: '132px', isWide: true, render: ({ hours }) => <HourBars hours={hours} /> },
];

/** All destinations, filtered as somebody types. */
export function DestinationList(): ReactElement {
  const { rows, isReading, error, retry } = useDestinations();
  const [text, setText] = useState('');
  const [state, setState] = useState<(typeof STATES)[number]>('all');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const counts = useMemo(() => {
    const found = { all: rows.length, failing: 0, held: 0, active: 0 };
    for (const row of rows) found[row.state] += 1;
    return found;
  }, [rows]);
  const shown = useMemo(
    () =>
      rows.filter(
        (row) =>
          (state === 'all' || row.state === state) &&
          (wanted === '' ||
            [row.id, row.topic, row.lastError?.message].some((value) => value?.toLowerCase().includes(wanted))),
      ),
    [rows, state, wanted],
  );
  if (rows.length === 0) {
    if (error !== null) return <Fault error={error} what="the destinations" onRetry={retry} />;
    if (isReading) return <Waiting what="the destinations" />;
    return (
      <Empty title="No webhook is stored yet" command="npm run demo -- --keep">
        The demo stores two: one that delivers, and one that nobody answers.
      </Empty>
    );
  }
  return (
    <div>
      <div className={css.tools}>
        <input
          type="search"
          className="input"
          aria-label="Filter by name, topic or error"
          placeholder="Name, topic or error"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <div className={css.choice} role="group" aria-label="State">
          {STATES.filter((one) => one !== 'held' || counts.held > 0).map((one) => (
            <button
              key={one}
              type="button"
              className="button small"
              aria-pressed={state === one}
              onClick={() => setState(one)}
            >
              {NAMES[one]} <span className={css.choiceCount}>{whole(counts[one])}</span>
            </button>
          ))}
        </div>
        <p className="fine" role="status">
          {isReading
            ? `Reading: ${whole(rows.length)} so far…`
            : shown.length === rows.length
              ? ''
              : `${whole(shown.length)} of ${whole(rows.length)}`}
        </p>
      </div>
      {error !== null && <Fault error={error} what="the rest of the destinations" onRetry={retry} />}
      {shown.length === 0 ? (
        <Empty title="Nothing matches">Clear the filter to see all {whole(rows.length)}.</Empty>
      ) : (
        <Table
          label="Destinations"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          rowHeight={52}
          onOpen={({ id }) => goTo(hashOf('destinations', [id]))}
        />
      )}
    </div>
  );
}
