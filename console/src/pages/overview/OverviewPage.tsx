import { type ReactElement, useState } from 'react';
import { SvcError } from 'svc-health-client';
import { Badge } from '../../parts/Badge';
import { Fault } from '../../parts/Fault';
import { PageHeader } from '../../parts/PageHeader';
import { ageOf } from '../../parts/times';
import { Time } from '../../parts/Time';
import { Waiting } from '../../parts/Waiting';
import { PublicHealth } from './PublicHealth';
import { RequestsPanel } from './RequestsPanel';
import { latestSpan, type Sample } from './samples';
import { ServerPanel } from './ServerPanel';
import { StoragePanel } from './StoragePanel';
import { Tiles } from './Tiles';
import { useSamples } from './use-samples';
import { verdictOf } from './verdict';
import css from './overview.module.css';

/** Whether the error is the end of the Session. The page need not show it, since the sign-in dialog does. */
const isOver = (error: Error): boolean => error instanceof SvcError && error.status === 401;

/** The health, speed and queues of the server. */
export default function OverviewPage(): ReactElement {
  const [isPaused, setIsPaused] = useState(false);
  const { data: samples = [], error, refetch } = useSamples(isPaused);
  const status = samples.at(-1)?.status;
  const span = latestSpan(samples);
  const verdict = status === undefined ? undefined : verdictOf(status);

  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <button type="button" className="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? 'Go on' : 'Pause'}
          </button>
        }
      >
        {status !== undefined && verdict !== undefined && (
          <div className="row">
            <span role="status">
              <Badge tone={verdict.tone}>{verdict.state}</Badge>
            </span>
            {verdict.href === undefined ? <span>{verdict.text}</span> : <a href={verdict.href}>{verdict.text}</a>}
            <span className="fine">
              {isPaused || error !== null ? 'As of' : 'Live, as of'} <Time value={status.timestamp} as="clock" />
            </span>
          </div>
        )}
      </PageHeader>
      {status === undefined && error === null && <Waiting what="the status of the server" />}
      {error !== null && !(status !== undefined && isOver(error)) && (
        <div className={css.fault}>
          <Fault error={error} what="the status of the server" onRetry={() => void refetch()} />
          {status === undefined && <PublicHealth />}
        </div>
      )}
      {status !== undefined && span !== undefined && (
        <div className={css.overview}>
          {status.missing.length > 0 && (
            <p className="banner" role="status">
              The server could not read these parts in time: {status.missing.join(', ')}.
            </p>
          )}
          <Tiles samples={samples} status={status} span={span} />
          <p className="fine">
            Each curve begins at 0 and shows{' '}
            {samples.length < 2 ? 'the time from now on' : `the latest ${lengthOf(samples)}`}.
          </p>
          <div className={css.columns}>
            <RequestsPanel status={status} span={span} />
            <ServerPanel status={status} samples={samples} />
          </div>
          <StoragePanel status={status} />
        </div>
      )}
    </>
  );
}

/** The time that the samples cover: `3 min`. */
function lengthOf(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)];
  return ageOf(first === undefined || last === undefined ? 0 : last.at - first.at);
}
