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

/** The data of a query. Without data, it shows that the query is pending, or why it failed. */
export function Answer<Data>({ of: { data, error, refetch }, what, children }: Props<Data>): ReactElement {
  if (data !== undefined) return <>{children(data)}</>;
  return error === null ? <Waiting what={what} /> : <Fault error={error} what={what} onRetry={() => void refetch()} />;
}
