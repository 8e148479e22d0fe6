import { type ReactElement } from 'react';
import { SvcError } from 'svc-health-client';
import { Copy } from './Copy';

interface Props {
  readonly error: unknown;
  /** The content that could not be read: `the destinations`. */
  readonly what: string;
  readonly onRetry?: () => void;
}

/** Explains why a part of a page is missing. A denial links to its explanation. */
export function Fault({ error, what, onRetry }: Props): ReactElement {
  const { title, text } = sayingOf(error, what);
  const decisionId = error instanceof SvcError && error.status === 403 ? error.decisionId : undefined;
  const requestId = error instanceof SvcError ? error.requestId : undefined;
  return (
    <div className="fault" role="alert">
      <p className="fault-title">{title}</p>
      <p>{text}</p>
      <div className="row">
        {decisionId !== undefined && (
          <a className="button" href={`#/access?decision=${encodeURIComponent(decisionId)}`}>
            Why it was refused
          </a>
        )}
        {onRetry !== undefined && (
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        )}
        {requestId !== undefined && (
          <span className="fine">
            Request <code>{requestId}</code> <Copy text={requestId} label="Copy id" />
          </span>
        )}
      </div>
    </div>
  );
}

export function sayingOf(error: unknown, what: string): { readonly title: string; readonly text: string } {
  if (!(error instanceof SvcError)) {
    if (error instanceof TypeError)
      return { title: 'The server cannot be reached', text: `It did not answer the request for ${what}.` };
    return { title: `Cannot show ${what}`, text: error instanceof Error ? error.message : String(error) };
  }
  const { status, message, retryAfterSeconds } = error;
  if (status === 401) return { title: 'Your session has ended', text: `Sign in again to see ${what}.` };
  if (status === 403) return { title: 'Not granted', text: `No policy lets you see ${what}. ${message}` };
  if (status === 404 || status === 410) return { title: status === 404 ? 'Not found' : 'Deleted', text: message };
  if (status === 429 || status === 503) {
    const wait = retryAfterSeconds === undefined ? '' : ` It takes requests again in ${retryAfterSeconds} s.`;
    return { title: 'The server is busy', text: `${message}${wait}` };
  }
  if (status >= 500) return { title: `The server failed (${status})`, text: message };
  return { title: `Cannot show ${what} (${status})`, text: message };
}
