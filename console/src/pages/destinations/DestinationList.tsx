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
    label: 'Webhook',
    width: 'minmax(150px, 2fr)',
    render: (row, isNarrow) => (
      <span className={css.name}>
        <span className={css.title}>
          <a href={hashOf('destinations', [row.id])} tabIndex={-1} onClick={(event) => event.stopPropagation()}>
            {row.id}
          </a>
          {isNarrow && <StateBadge row={row} />}
        </span>
        <span className="fine" title={row.topic}>
          {row.topic?.replace(/^.*\/(?=.)/, '')}
        </span>
        {isNarrow && <Reason row={row} />}
      </span>
    ),
  },
  {
    key: 'state',
    label: 'State',
    isWide: true,
    width: 'minmax(84px, 3fr)',
    render: (row) => (
      <span className={css.state}>
        <StateBadge row={row} />
        <Reason row={row} />
      </span>
    ),
  },
  {
    key: 'waits',
    label: 'Waiting',
    isWide: true,
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

interface RowProps {
  readonly row: DestinationOverview;
}

function StateBadge({ row }: RowProps): ReactElement {
  const { tone, label } = verdictOf(row);
  return <Badge tone={tone}>{label}</Badge>;
}

/** Why the webhook is not well; nothing if it is well. */
function Reason({ row }: RowProps): ReactElement | null {
  const { tone, text } = verdictOf(row);
  return tone === 'good' ? null : <span className="faint">{text}</span>;
}

/** All webhooks, filtered by the typed text. */
export function DestinationList({ state: given }: { readonly state: string | null }): ReactElement {
  const { rows, isReading, error, retry } = useDestinations();
  const [text, setText] = useState('');
  const [state, setState] = useState(() => STATES.find((one) => one === given) ?? 'all');
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
    if (error !== null) return <Fault error={error} what="the webhooks" onRetry={retry} />;
    if (isReading) return <Waiting what="the webhooks" />;
    return (
      <Empty title="No webhook is stored yet" command="npm run demo -- --keep">
        <a href={hashOf('destinations', [], { tab: 'new' })}>Store a new one</a>, or let the demo store two: one that
        delivers, and one that nobody answers.
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
      {error !== null && <Fault error={error} what="the rest of the webhooks" onRetry={retry} />}
      {shown.length === 0 ? (
        <Empty title="Nothing matches">Clear the filter to see all {whole(rows.length)}.</Empty>
      ) : (
        <Table
          label="Webhooks"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          rowHeight={52}
          isWrapped
          onOpen={({ id }) => goTo(hashOf('destinations', [id]))}
        />
      )}
    </div>
  );
}
