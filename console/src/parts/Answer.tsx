import { type ReactElement, type ReactNode } from 'react';
import { Fault } from './Fault';
import { Waiting } from './Waiting';

interface Props<Data> {
  /** A query. Its latest data stay if a later read fails. */
  readonly of: { readonly data: Data | undefined; readonly error: unknown; readonly refetch: () => unknown };
  /** The data in words: `the destinations`. */
  readonly what: string;
  readonly children: (data: Data) => ReactNode;
}

/** The data of a query, and why its latest read failed. Until the first answer, it shows that the query is pending. */
export function Answer<Data>({ of: { data, error, refetch }, what, children }: Props<Data>): ReactElement {
  if (data === undefined && error === null) return <Waiting what={what} />;
  return (
    <>
      {error !== null && <Fault error={error} what={what} onRetry={() => void refetch()} />}
      {data !== undefined && children(data)}
    </>
  );
}
