import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { type Query } from 'svc-health-client';
import { useSession } from '../../app/session';
import { Dialog } from '../../parts/Dialog';
import { Fault } from '../../parts/Fault';
import { closeAll, type ClosingProgress, MOST_SESSIONS } from './close-sessions';
import css from './access.module.css';

interface Props {
  /** Parameters of the search for the Sessions. */
  readonly filter: Query;
  /** The owner of the Sessions, in words. */
  readonly of: string;
  /** Whether the reader's own Session may be among them. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

/** Closes all open Sessions of a filter after a confirmation, and shows its progress. */
export function CloseSessions({ filter, of, isOwn, onClose }: Props): ReactElement {
  const { client } = useSession();
  const [progress, setProgress] = useState<ClosingProgress>();
  const cancel = useRef(new AbortController());
  useEffect(() => () => cancel.current.abort(), []);
  const run = useMutation({
    mutationFn: () => {
      cancel.current = new AbortController();
      return closeAll(
        openIds(client.search('Session', { ...filter, active: true, _sort: 'start', _elements: 'id', _total: 'none' })),
        (id) => client.sessions.close(id),
        setProgress,
        cancel.current.signal,
      );
    },
  });
  const { total, closed = 0, failed = 0 } = progress ?? {};
  return (
    <Dialog title={`Close all sessions of ${of}`} onClose={onClose}>
      {run.isIdle && (
        <>
          <p>
            Their tokens are refused from then on, on every server. Up to {MOST_SESSIONS.toLocaleString('en')} sessions
            are closed.
          </p>
          {isOwn && (
            <p className={css.noteLine}>Your own session may be among them. You would have to sign in again.</p>
          )}
          <div className="row">
            <button type="button" className="button danger" onClick={() => run.mutate()}>
              Close them
            </button>
            <button type="button" className="button" onClick={onClose}>
              Keep them
            </button>
          </div>
        </>
      )}
      {run.isPending && (
        <>
          <progress
            className={css.progress}
            max={total ?? 1}
            value={total === undefined ? undefined : closed + failed}
            aria-label="Closing"
          />
          <p role="status">{total === undefined ? 'Reading the sessions…' : `${closed} of ${total} closed`}</p>
          <button type="button" className="button" onClick={() => cancel.current.abort()}>
            Stop
          </button>
        </>
      )}
      {run.isError && <Fault error={run.error} what="that the sessions were closed" />}
      {run.data !== undefined && (
        <>
          <p role="status">
            {run.data.closed === 1 ? '1 session is closed.' : `${run.data.closed} sessions are closed.`}
            {run.data.failed > 0 && ` ${run.data.failed} could not be closed.`}
            {run.data.isMore && ' There are more: close them again.'}
            {run.data.total !== undefined && run.data.closed + run.data.failed < run.data.total && ' You stopped it.'}
          </p>
          {run.data.firstFault !== undefined && <Fault error={run.data.firstFault} what="that a session was closed" />}
          <button type="button" className="button" onClick={onClose}>
            Done
          </button>
        </>
      )}
    </Dialog>
  );
}

async function* openIds(sessions: AsyncIterable<{ readonly id?: string }>): AsyncGenerator<string, void, void> {
  for await (const { id } of sessions) if (id !== undefined) yield id;
}
