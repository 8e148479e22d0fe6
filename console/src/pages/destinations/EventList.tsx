import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type DestinationEvent } from 'svc-health-client';
import { useClient } from '../../app/session';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Time } from '../../parts/Time';
import { EventSteps } from './EventSteps';
import css from './destinations.module.css';

const STATES = [
  { id: '', label: 'All' },
  { id: 'queued', label: 'Waiting' },
  { id: 'in-process', label: 'Being delivered' },
  { id: 'delivered', label: 'Delivered' },
] as const;
const BADGES = {
  queued: ['neutral', 'Waiting'],
  'in-process': ['warn', 'Being delivered'],
  delivered: ['good', 'Delivered'],
} as const;
const PAGE = 20;
const MOST_LIVE_PAGES = 3;
const REFRESH_MILLISECONDS = 3_000;

/** The events of a destination, newest first. Each shows its steps from commit to delivery. */
export function EventList({ id }: { readonly id: string }): ReactElement {
  const client = useClient();
  const [state, setState] = useState('');
  const [number, setNumber] = useState('');
  const [pages, setPages] = useState(1);
  const [open, setOpen] = useState<string>();
  const one = /^[1-9]\d{0,15}$/.test(number) ? number : undefined;
  const found = useQuery({
    queryKey: ['destination', id, 'events', state, one, pages],
    queryFn: async ({ signal }) => {
      const events: DestinationEvent[] = [];
      const query = {
        _count: PAGE,
        ...(state === '' ? {} : { state }),
        ...(one === undefined ? {} : { from: one, to: one }),
      };
      let read = 0;
      for await (const page of client.destinations.timeline(id, query)) {
        signal.throwIfAborted();
        events.push(...page);
        read += 1;
        if (read === pages) break;
      }
      return { events, hasMore: events.length === pages * PAGE };
    },
    placeholderData: (before, query) =>
      query?.queryKey[3] === state && query.queryKey[4] === one ? before : undefined,
    refetchInterval: pages <= MOST_LIVE_PAGES ? REFRESH_MILLISECONDS : false,
  });
  const filter = (next: string): void => {
    setState(next);
    setPages(1);
  };
  return (
    <div className="stack">
      <div className={css.tools}>
        <div className={css.choice} role="group" aria-label="State of the events">
          {STATES.map(({ id: to, label }) => (
            <button
              key={to}
              type="button"
              className="button small"
              aria-pressed={state === to}
              onClick={() => filter(to)}
            >
              {label}
            </button>
          ))}
        </div>
        <input
          type="search"
          inputMode="numeric"
          className={`input ${css.eventNumber}`}
          aria-label="Number of an event"
          placeholder="Number"
          value={number}
          onChange={({ target }) => setNumber(target.value.trim())}
        />
      </div>
      <Answer of={found} what="the events">
        {({ events, hasMore }) => (
          <>
            {events.length === 0 ? (
              <Empty title={state === '' && one === undefined ? 'No event yet' : 'No such event'}>
                A write that matches the topic is an event. Delivered ones are kept for some days.
              </Empty>
            ) : (
              <ul className={css.events} aria-label="Events">
                {events.map((event) => {
                  const key = `${event.number ?? 'q'} ${event.recorded} ${event.focus ?? ''} ${event.version ?? ''}`;
                  return (
                    <EventItem
                      key={key}
                      destinationId={id}
                      event={event}
                      isOpen={open === key}
                      onToggle={() => setOpen(open === key ? undefined : key)}
                    />
                  );
                })}
              </ul>
            )}
            {hasMore && (
              <button type="button" className="button" onClick={() => setPages(pages + 1)}>
                Earlier events
              </button>
            )}
          </>
        )}
      </Answer>
    </div>
  );
}

interface ItemProps {
  readonly destinationId: string;
  readonly event: DestinationEvent;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function EventItem({ destinationId, event, isOpen, onToggle }: ItemProps): ReactElement {
  const { number, state, focus, version, interaction, attempts, attempt } = event;
  const last = attempt.findLast(({ replay }) => replay !== true);
  const isFailing = state === 'in-process' && last !== undefined && !last.delivered;
  const [tone, label] = isFailing ? (['bad', 'Failing'] as const) : BADGES[state];
  return (
    <li className={css.event}>
      <button type="button" className={css.eventHead} aria-expanded={isOpen} onClick={onToggle}>
        <span className={css.eventNo}>{number === undefined ? '–' : `#${number}`}</span>
        <Badge tone={tone}>{label}</Badge>
        <span className={css.eventWhat}>
          {focus === undefined ? (
            <span className="faint">You may not read what was written</span>
          ) : (
            <>
              {interaction} <code>{focus}</code> <span className="faint">version {version}</span>
            </>
          )}
        </span>
        <span className={`faint ${css.eventWhen}`}>
          {attempts > 1 && <span>{attempts} attempts, </span>}
          <Time value={event.delivered ?? event.recorded} as="ago" />
        </span>
      </button>
      {isOpen && <EventSteps destinationId={destinationId} event={event} />}
    </li>
  );
}
