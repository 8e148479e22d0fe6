import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement } from 'react';
import { type DestinationOverview } from 'svc-health-client';
import { useClient } from '../../app/session';
import { goTo, hashOf } from '../../app/routes';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Fault } from '../../parts/Fault';
import { whole } from '../../parts/numbers';
import { PageHeader } from '../../parts/PageHeader';
import { Tabs } from '../../parts/Tabs';
import { Time } from '../../parts/Time';
import { Waiting } from '../../parts/Waiting';
import { EventList } from './EventList';
import { HourBars } from './HourBars';
import { NextAttempt } from './NextAttempt';
import { ReplayPanel } from './ReplayPanel';
import { SettingsPanel } from './SettingsPanel';
import { TestPanel } from './TestPanel';
import { verdictOf } from './verdict';
import css from './destinations.module.css';

const TABS = [
  { id: 'events', label: 'Events' },
  { id: 'replay', label: 'Send again' },
  { id: 'test', label: 'Test' },
  { id: 'settings', label: 'Settings' },
];
const REFRESH_MILLISECONDS = 2_000;

interface Props {
  readonly id: string;
  readonly tab: string;
}

/** One webhook: what is wrong with it, its events, and what can be done. */
export function DestinationDetail({ id, tab }: Props): ReactElement {
  const client = useClient();
  const overview = useQuery({
    queryKey: ['destination', id, 'overview'],
    queryFn: async () => (await client.destinations.overviewOf(id)) ?? null,
    refetchInterval: REFRESH_MILLISECONDS,
  });
  const selected = TABS.some((one) => one.id === tab) ? tab : 'events';
  const show = (to: string): void => goTo(hashOf('destinations', [id], to === 'events' ? {} : { tab: to }), true);
  return (
    <>
      <p className={css.crumb}>
        <a href={hashOf('destinations')}>Destinations</a> <span aria-hidden="true">/</span>
      </p>
      <PageHeader title={id}>
        {overview.data?.topic !== undefined && (
          <>
            Gets <code>{overview.data.topic}</code>
          </>
        )}
      </PageHeader>
      {overview.data === null ? (
        <Empty title="There is no such destination">
          It was deleted, or no policy lets you see it. <a href={hashOf('destinations')}>See all</a>
        </Empty>
      ) : overview.data === undefined ? (
        overview.error === null ? (
          <Waiting what="the destination" />
        ) : (
          <Fault error={overview.error} what="the destination" onRetry={() => void overview.refetch()} />
        )
      ) : (
        <div className="stack">
          <Verdict overview={overview.data} onShow={show} />
          <div>
            <Tabs label="About this destination" tabs={TABS} selected={selected} onSelect={show}>
              {selected === 'events' && <EventList id={id} />}
              {selected === 'replay' && <ReplayPanel id={id} onShow={show} />}
              {selected === 'test' && <TestPanel id={id} />}
              {selected === 'settings' && <SettingsPanel id={id} />}
            </Tabs>
          </div>
        </div>
      )}
    </>
  );
}

function Verdict({
  overview,
  onShow,
}: {
  readonly overview: DestinationOverview;
  readonly onShow: (tab: string) => void;
}): ReactElement {
  const { id, nextAttempt, hours, state } = overview;
  const client = useClient();
  const queries = useQueryClient();
  const { tone, label, text, advice } = verdictOf(overview);
  const status = useQuery({
    queryKey: ['destination', id, 'status'],
    queryFn: () => client.destinations.status(id),
    refetchInterval: REFRESH_MILLISECONDS,
  });
  const since = useQuery({
    queryKey: ['destination', id, 'blocking'],
    queryFn: async () => {
      const { value } = await client.destinations.timeline(id, { state: 'in-process', _count: 1 }).next();
      const [event] = value ?? [];
      const [first] = event?.attempt.filter(({ delivered }) => !delivered) ?? [];
      if (event === undefined || first === undefined) return null;
      return event.attempts > event.attempt.length ? (event.batched ?? first.ended) : first.ended;
    },
    enabled: state === 'failing',
    refetchInterval: REFRESH_MILLISECONDS,
  });
  const retry = useMutation({
    mutationFn: () => client.destinations.retry(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['destination', id] }),
  });
  const totals = status.data;
  return (
    <section className={`${css.verdict} ${css[tone]}`} aria-label="What is the matter">
      <div className={css.verdictText}>
        <p className={css.verdictTitle}>
          <Badge tone={tone}>{label}</Badge> <strong>{text}</strong>
        </p>
        {advice !== undefined && <p>{advice}</p>}
        {state === 'failing' && (
          <p className="faint">
            {typeof since.data === 'string' && (
              <>
                Failing since <Time value={since.data} />.{' '}
              </>
            )}
            {nextAttempt !== undefined && <NextAttempt at={nextAttempt} />}
          </p>
        )}
        {state === 'failing' && (
          <div className="row">
            <button type="button" className="button primary" disabled={retry.isPending} onClick={() => retry.mutate()}>
              Try now
            </button>
            <button type="button" className="button" onClick={() => onShow('test')}>
              Send a test
            </button>
            <button type="button" className="button" onClick={() => onShow('settings')}>
              Correct the endpoint
            </button>
          </div>
        )}
        {retry.error !== null && <Fault error={retry.error} what="another attempt" />}
      </div>
      <dl className={css.facts}>
        {[
          ['Delivered', totals?.messagesDelivered],
          ['Waiting', totals && totals.messagesQueued + totals.messagesInProcess],
          ['Failed attempts', totals?.messageBatchesDeliveryAttempts],
        ].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'number' ? whole(value) : '–'}</dd>
          </div>
        ))}
        <div className={css.factsWide}>
          <dt>24 hours</dt>
          <dd>
            <HourBars hours={hours} height={36} />
          </dd>
        </div>
      </dl>
    </section>
  );
}
