import { type ReactElement } from 'react';
import { type ServerStatus } from 'svc-health-client';
import { bytes, duration, rate, short, whole } from '../../parts/numbers';
import { ageOf } from '../../parts/times';
import {
  type Counter,
  cutCounter,
  denialsCounter,
  failuresCounter,
  latenciesOf,
  loginsCounter,
  ratesOf,
  refusalsCounter,
  refusedLoginsCounter,
  requestsCounter,
  type Sample,
  type Span,
} from './samples';
import { Tile } from './Tile';
import css from './overview.module.css';

interface Props {
  readonly samples: readonly Sample[];
  readonly status: ServerStatus;
  readonly span: Span;
}

const NONE = '–';
const more = (isMore: boolean | undefined): string => (isMore === true ? '+' : '');

/** The most important figures. */
export function Tiles({ samples, status, span }: Props): ReactElement {
  const { delivery, sessions, logins, denials, storage } = status;
  const during = span.isSinceStart ? 'since the start' : `in ${Math.round(span.seconds)} s`;
  const grown = (counter: Counter): string => {
    const count = span.grown(counter);
    return count === undefined ? NONE : whole(count);
  };
  const failures = span.grown(failuresCounter) ?? 0;
  const [p50, p95] = [span.quantile(0.5), span.quantile(0.95)];
  const values = (read: (status: ServerStatus) => number | undefined): (number | null)[] =>
    samples.map((sample) => read(sample.status) ?? null);
  const requests = span.grown(requestsCounter);
  // PostgreSQL's estimates. They do not exist before its first ANALYZE of a table.
  const resources = (storage?.resources ?? []).reduce((sum, { count }) => sum + count, 0);

  return (
    <section className={css.tiles} aria-label="Figures">
      <h2 className="hidden">Figures</h2>
      <Tile
        title="Requests"
        value={requests === undefined ? NONE : rate(requests / span.seconds)}
        unit="per second"
        note={`${grown(requestsCounter)} ${during}`}
        line={ratesOf(samples, requestsCounter)}
      />
      <Tile
        title="Latency"
        value={p95 === undefined ? NONE : duration(p95)}
        unit="p95"
        note={p50 === undefined ? `No request ${during}` : `p50 ${duration(p50)}, ${during}`}
        line={latenciesOf(samples, 0.95)}
      />
      <Tile
        title="Failures"
        value={grown(failuresCounter)}
        unit={`5xx ${during}`}
        note={`${grown(refusalsCounter)} refused (4xx), ${grown(cutCounter)} cut off`}
        isBad={failures > 0}
        line={ratesOf(samples, failuresCounter)}
        ink="bad"
      />
      <Tile
        title="Webhooks"
        href="#/destinations"
        value={
          delivery === undefined
            ? NONE
            : delivery.oldestAgeSeconds === undefined
              ? 'Empty'
              : ageOf(delivery.oldestAgeSeconds * 1000)
        }
        {...(delivery?.oldestAgeSeconds === undefined ? {} : { unit: 'oldest waits' })}
        note={
          delivery === undefined
            ? NONE
            : `${short(delivery.queued)}${more(delivery.queuedIsMore)} wait, ${delivery.failing} of ${delivery.destinations}${more(delivery.destinationsIsMore)} failing${delivery.isHeld === true ? ', held' : ''}`
        }
        isBad={(delivery?.failing ?? 0) > 0}
        line={values(({ delivery: then }) => then?.queued)}
        ink={(delivery?.failing ?? 0) > 0 ? 'bad' : 'accent'}
      />
      <Tile
        title="Logins"
        value={grown(loginsCounter)}
        unit="granted"
        note={`${grown(refusedLoginsCounter)} refused ${during}${(logins?.waiting ?? 0) > 0 ? `, ${logins?.waiting ?? 0} waiting` : ''}`}
        line={ratesOf(samples, loginsCounter)}
      />
      <Tile
        title="Denials"
        href="#/access"
        value={denials === undefined ? NONE : whole(denials.policy + denials.rows)}
        unit="since the start"
        note={span.isSinceStart ? undefined : `${grown(denialsCounter)} ${during}`}
        line={ratesOf(samples, denialsCounter)}
        ink="warn"
      />
      <Tile
        title="Sessions"
        href="#/access"
        value={sessions === undefined ? NONE : `${short(sessions.active)}${more(sessions.activeIsMore)}`}
        unit="active"
        line={values(({ sessions: then }) => then?.active)}
      />
      <Tile
        title="Storage"
        value={storage === undefined ? NONE : bytes(storage.bytes)}
        note={resources === 0 ? undefined : `about ${short(resources)} resources`}
        line={values(({ storage: then }) => then?.bytes)}
      />
    </section>
  );
}
