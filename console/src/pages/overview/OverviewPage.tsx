import { type ReactElement, useState } from 'react';
import { type ServerStatus, SvcError } from 'svc-health-client';
import { Badge, type Tone } from '../../parts/Badge';
import { Fault } from '../../parts/Fault';
import { PageHeader } from '../../parts/PageHeader';
import { Time } from '../../parts/Time';
import { Waiting } from '../../parts/Waiting';
import { PublicHealth } from './PublicHealth';
import { RequestsPanel } from './RequestsPanel';
import { latestSpan } from './samples';
import { ServerPanel } from './ServerPanel';
import { StoragePanel } from './StoragePanel';
import { Tiles } from './Tiles';
import { useSamples } from './use-samples';
import css from './overview.module.css';

const HEALTH: Readonly<Record<ServerStatus['health']['status'], readonly [Tone, string]>> = {
  pass: ['good', 'Healthy'],
  warn: ['warn', 'Warning'],
  fail: ['bad', 'Failing'],
};

/** The sign-in dialog says the same. */
const isOver = (error: Error): boolean => error instanceof SvcError && error.status === 401;

/** The health, speed and queues of the server. */
export default function OverviewPage(): ReactElement {
  const [isPaused, setIsPaused] = useState(false);
  const { data: samples = [], error, refetch } = useSamples(isPaused);
  const status = samples.at(-1)?.status;
  const span = latestSpan(samples);
  const [tone, state] = status === undefined ? (['neutral', ''] as const) : HEALTH[status.health.status];

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
        {status !== undefined && (
          <div className="row">
            <span role="status">
              <Badge tone={tone}>{state}</Badge>
            </span>
            <span>{status.health.description}</span>
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
