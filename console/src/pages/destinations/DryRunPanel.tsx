import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type DryRun, type DryRunVersion, SvcError, type Topic } from 'svc-health-client';
import { useClient } from '../../app/session';
import { Badge } from '../../parts/Badge';
import { Fault } from '../../parts/Fault';
import { rate, whole } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';
import { Time } from '../../parts/Time';
import { useSettled } from '../../parts/use-settled';
import { canRun, type TopicDraft, topicOf } from './topic-draft';
import css from './destinations.module.css';

const WINDOWS = [
  [1, 'Last hour'],
  [24, '24 hours'],
  [24 * 7, '7 days'],
  [24 * 30, '30 days'],
] as const;
const LISTED = 20;
/** The pause in typing after which a dry run starts. */
const PAUSE_MILLISECONDS = 500;

interface Props {
  readonly draft: TopicDraft;
  readonly stored: Topic | undefined;
}

/** The effect of a topic on the stored history, computed again after each change. */
export function DryRunPanel({ draft, stored }: Props): ReactElement {
  const client = useClient();
  const [hours, setHours] = useState<number>(24);
  const [fires, setFires] = useState(true);
  const settled = useSettled(draft, PAUSE_MILLISECONDS);
  const run = useQuery({
    queryKey: ['dry-run', JSON.stringify(settled), hours, fires],
    queryFn: ({ signal }) =>
      client.topics.dryRun(
        topicOf(settled, stored),
        { start: new Date(Date.now() - hours * 3_600_000).toISOString(), count: LISTED, fires },
        { signal },
      ),
    enabled: canRun(settled),
    placeholderData: (before, query) => (query?.queryKey[3] === fires ? before : undefined),
    staleTime: 30_000,
  });
  const refusal = run.error instanceof SvcError && run.error.status === 422 ? run.error.message : undefined;
  const isBehind = run.isFetching || settled !== draft;
  return (
    <Panel
      title="Dry run on the real history"
      actions={
        <select aria-label="Time to look at" value={hours} onChange={({ target }) => setHours(Number(target.value))}>
          {WINDOWS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      <div className="stack" aria-busy={isBehind}>
        <div role="status">
          {refusal !== undefined && !isBehind ? (
            <p className={css.dryRunRefusal}>{refusal}</p>
          ) : run.data === undefined ? (
            <p className="faint">{canRun(settled) ? 'Looking at the history…' : 'Name a resource type to begin.'}</p>
          ) : (
            <Counts run={run.data} isBehind={isBehind} />
          )}
        </div>
        {run.error !== null && refusal === undefined && (
          <Fault error={run.error} what="the dry run" onRetry={() => void run.refetch()} />
        )}
        {run.data !== undefined && refusal === undefined && (
          <>
            {run.data.unmet.length > 0 && <Unmet run={run.data} />}
            <div className={css.choice} role="group" aria-label="Versions to list">
              <button type="button" className="button small" aria-pressed={fires} onClick={() => setFires(true)}>
                Would fire
              </button>
              <button type="button" className="button small" aria-pressed={!fires} onClick={() => setFires(false)}>
                Would not
              </button>
            </div>
            <Versions versions={run.data.versions} />
          </>
        )}
      </div>
    </Panel>
  );
}

function Counts({ run, isBehind }: { readonly run: DryRun; readonly isBehind: boolean }): ReactElement {
  const { events, versionsExamined, undecided, eventsPerHour, busiestHour, isComplete, end } = run;
  return (
    <div className={isBehind ? css.behind : undefined}>
      <p className={css.countsMain}>
        Would have fired <strong>{events === 1 ? 'once' : `${whole(events)} times`}</strong>
      </p>
      <p className="faint">
        among {whole(versionsExamined)} {versionsExamined === 1 ? 'write' : 'writes'}
        {events > 0 && `: ${rate(eventsPerHour)} an hour`}
        {busiestHour !== undefined && `, ${whole(busiestHour.events)} in the busiest`}
        {undecided > 0 && `; ${whole(undecided)} of them in case, as the criterion could not be evaluated`}.
      </p>
      {!isComplete && (
        <p className="fine">
          There are more: these are the writes until <Time value={end} />.
        </p>
      )}
    </div>
  );
}

function Unmet({ run: { unmet } }: { readonly run: DryRun }): ReactElement {
  const most = Math.max(...unmet.map(({ versions }) => versions));
  return (
    <section aria-label="The first clause that was false">
      <h3>The first clause that was false</h3>
      <ul className={css.unmet}>
        {unmet.map(({ index, clause, supported, versions }) => (
          <li key={`${index} ${clause ?? supported ?? ''}`}>
            <code>{clause ?? `not one of ${supported ?? ''}`}</code>
            <span className={css.unmetCount}>{whole(versions)}</span>
            <meter min={0} max={most} value={versions} aria-label={`${versions} writes`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Versions({ versions }: { readonly versions: readonly DryRunVersion[] }): ReactElement {
  if (versions.length === 0) return <p className="faint">None in this time.</p>;
  return (
    <ul className={css.versions} aria-label="Versions">
      {versions.toReversed().map(({ reference, time, interaction, fires, triggers }) => {
        const failed = triggers.find(({ clause, supported }) => clause !== undefined || supported !== undefined);
        const isInCase = fires && triggers.some(({ undecided }) => undecided !== undefined);
        return (
          <li key={reference}>
            <span>
              {interaction} <code>{reference}</code> {isInCase && <Badge tone="warn">In case</Badge>}
            </span>
            <span className="faint">
              <Time value={time} as="ago" />
            </span>
            {!fires && failed !== undefined && (
              <span className={css.versionWhy}>
                false: <code>{failed.clause ?? `not one of ${failed.supported ?? ''}`}</code>
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
