import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { Time } from '../parts/Time';
import { noticedFetch, useUnreachableSince } from './reachability';
import { serverAddress } from './session';

const PING_MILLISECONDS = 3000;

/** Says that the server does not answer, and repeats the failed reads once the server answers again. */
export function Unreachable(): ReactElement | null {
  const since = useUnreachableSince();
  const queries = useQueryClient();
  useEffect(() => {
    if (since === undefined) return;
    const timer = setInterval(() => {
      noticedFetch(`${serverAddress()}/health`, {}).then(
        () => queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }),
        () => undefined,
      );
    }, PING_MILLISECONDS);
    return () => {
      clearInterval(timer);
    };
  }, [since, queries]);
  if (since === undefined) return null;
  return (
    <div className="banner" role="status">
      The server cannot be reached since <Time value={since} as="clock" />. The page shows what it answered last, and
      tries again every 3 s.
    </div>
  );
}
