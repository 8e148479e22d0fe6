import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type DestinationOverview } from 'svc-health-client';
import { useClient } from '../../app/session';
import { goTo, hashOf } from '../../app/routes';
import { Answer } from '../../parts/Answer';
import { Badge } from '../../parts/Badge';
import { Empty } from '../../parts/Empty';
import { Fact } from '../../parts/Fact';
import { Fault } from '../../parts/Fault';
import { whole } from '../../parts/numbers';
import { PageHeader } from '../../parts/PageHeader';
import { Tabs } from '../../parts/Tabs';
import { Time } from '../../parts/Time';
import { useKept } from '../../parts/use-kept';
import { BackToList } from './BackToList';
import { EventList } from './EventList';
import { HourBars } from './HourBars';
import { NextAttempt } from './NextAttempt';
import { ReplayPanel } from './ReplayPanel';
import { settingsOf } from './settings';
import { type Edited, SettingsPanel } from './SettingsPanel';
import { TestPanel } from './TestPanel';
import { useStored } from './use-stored';
import { failingSince, verdictOf, waitingOf } from './verdict';
import css from './destinations.module.css';

const TABS = [
  { id: 'events', label: 'Events' },
  { id: 'replay', label: 'Send again' },
  { id: 'test', label: 'Test' },
  { id: 'settings', label: 'Settings' },
];
const CHANGED_SETTINGS = (
  <>
    Settings <span aria-hidden="true">•</span>
    <span className="hidden">, not stored</span>
  </>
);
const REFRESH_MILLISECONDS = 2_000;

interface Props {
  readonly id: string;
  readonly tab: string;
}

/** The page of one webhook: its problem, its events, and the possible actions. */
export function DestinationDetail({ id, tab }: Props): ReactElement {
  const client = useClient();
  const overview = useQuery({
    queryKey: ['destination', id, 'overview'],
    queryFn: async () => (await client.destinations.overviewOf(id)) ?? null,
    refetchInterval: REFRESH_MILLISECONDS,
  });
  const stored = useStored(id);
  const endpoint = stored.data == null ? '' : settingsOf(stored.data).endpoint;
  const [edited, setEdited] = useKept<Edited | null>(`settings of ${id}`, null);
  const [isCorrecting, setIsCorrecting] = useState(false);
  const selected = TABS.some((one) => one.id === tab) ? tab : 'events';
  const tabs = TABS.map((one) =>
    one.id === 'settings' && edited !== null ? { ...one, label: CHANGED_SETTINGS } : one,
  );
  const show = (to: string, isToCorrect = false): void => {
    setIsCorrecting(isToCorrect);
    goTo(hashOf('destinations', [id], to === 'events' ? {} : { tab: to }), true);
  };
  return (
    <>
      <PageHeader title={id} actions={<BackToList />}>
        {endpoint !== '' && (
          <>
            Sends to <code>{endpoint}</code>{' '}
          </>
        )}
        {overview.data?.topic !== undefined && (
          <>
            what fires topic <code>{overview.data.topic}</code>
          </>
        )}
      </PageHeader>
      <Answer of={overview} what="the webhook">
        {(found) =>
          found === null ? (
            <Empty title="There is no such webhook">
              It was deleted, or no policy lets you see it. <a href={hashOf('destinations')}>See all</a>
            </Empty>
          ) : (
            <div className="stack">
              <Verdict overview={found} onShow={show} />
              <div>
                <Tabs label="About this webhook" tabs={tabs} selected={selected} onSelect={show}>
                  {selected === 'events' && <EventList id={id} />}
                  {selected === 'replay' && <ReplayPanel id={id} onShow={show} />}
                  {selected === 'test' && <TestPanel id={id} />}
                  {selected === 'settings' && (
                    <SettingsPanel id={id} edited={edited} onEdit={setEdited} isCorrecting={isCorrecting} />
                  )}
                </Tabs>
              </div>
            </div>
          )
        }
      </Answer>
    </>
  );
}

function Verdict({
  overview,
  onShow,
}: {
  readonly overview: DestinationOverview;
  readonly onShow: (tab: string, isToCorrect?: boolean) => void;
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
  const blocking = useQuery({
    queryKey: ['destination', id, 'blocking'],
    queryFn: async () => {
      const { value } = await client.destinations.timeline(id, { state: 'in-process', _count: 1 }).next();
      return value?.[0] ?? null;
    },
    enabled: state === 'failing',
    refetchInterval: REFRESH_MILLISECONDS,
  });
  const retry = useMutation({
    mutationFn: async () => {
      const before = status.data?.messagesDelivered ?? 0;
      const at = Date.now();
      await client.destinations.retry(id);
      return { at, before };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['destination', id] }),
  });
  const totals = status.data;
  const waits = waitingOf(overview);
  const isUnderWay =
    state === 'failing' && (nextAttempt === undefined || Date.parse(nextAttempt) <= status.dataUpdatedAt);
  const since = failingSince(blocking.data ?? undefined, totals?.lastErrors ?? [], overview.failuresInARow ?? 0);
  return (
    <section className={`${css.verdict} ${css[tone]}`} aria-label="What is the matter">
      <div className={css.verdictText}>
        <p className={css.verdictTitle}>
          <Badge tone={tone}>{label}</Badge> <strong>{text}</strong>
        </p>
        {advice !== undefined && <p>{advice}</p>}
        {state === 'failing' && (
          <p className="faint">
            {since !== undefined && (
              <>
                {since.isLonger ? 'Failing since before' : 'Failing since'} <Time value={since.at} />.{' '}
              </>
            )}
            {nextAttempt !== undefined && <NextAttempt at={nextAttempt} />}
          </p>
        )}
        {state === 'failing' && (
          <div className="row">
            <button
              type="button"
              className="button primary"
              disabled={retry.isPending || isUnderWay}
              onClick={() => retry.mutate()}
            >
              {isUnderWay
                ? 'Trying…'
                : waits === 0
                  ? 'Try now'
                  : `Deliver the ${overview.queuedIsMore === true ? '' : `${whole(waits)} `}waiting ${waits === 1 ? 'event' : 'events'} now`}
            </button>
            <button type="button" className="button" onClick={() => onShow('test')}>
              Test…
            </button>
            <button type="button" className="button" onClick={() => onShow('settings', true)}>
              Correct the endpoint…
            </button>
          </div>
        )}
        {retry.data !== undefined && !isUnderWay && (
          <p role="status">{saidOf(retry.data, totals?.messagesDelivered ?? 0, state)}</p>
        )}
        {retry.error !== null && <Fault error={retry.error} what="another attempt" />}
      </div>
      <dl className={css.facts}>
        {[
          ['Delivered in all', totals?.messagesDelivered],
          ['Waiting', totals && totals.messagesQueued + totals.messagesInProcess],
          ['Failed attempts in all', totals?.messageBatchesDeliveryAttempts],
        ].map(([name, value]) => (
          <Fact key={name} name={name}>
            {typeof value === 'number' ? whole(value) : '–'}
          </Fact>
        ))}
        <div className={css.factsWide}>
          <dt>
            24 hours: <span className={css.key}>{whole(sumOf(hours, 'delivered'))} delivered</span>
            <span className={`${css.key} ${css.bad}`}>{whole(sumOf(hours, 'failed'))} failed attempts</span>
          </dt>
          <dd>
            <HourBars hours={hours} height={36} />
          </dd>
        </div>
      </dl>
    </section>
  );
}

/**
 * The outcome after a button started a delivery: the number of events delivered since then, or the text that none was.
 */
function saidOf(
  { at, before }: { readonly at: number; readonly before: number },
  delivered: number,
  state: DestinationOverview['state'],
): ReactElement {
  return (
    <>
      {delivered > before
        ? `${whole(delivered - before)} delivered since`
        : state === 'failing'
          ? 'Tried, and nothing is delivered since'
          : 'Tried at'}{' '}
      <Time value={at} as="clock" />
    </>
  );
}

const sumOf = (hours: DestinationOverview['hours'], name: 'delivered' | 'failed'): number =>
  hours.reduce((sum, hour) => sum + hour[name], 0);
