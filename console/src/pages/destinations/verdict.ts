import { type DestinationEvent, type DestinationOverview, type DestinationStatus } from 'svc-health-client';
import { whole } from '../../parts/numbers';
import { ageOf } from '../../parts/times';

/** The state of a destination: a sentence, and the next step. */
export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly label: string;
  readonly text: string;
  readonly advice?: string;
}

type State = Pick<
  DestinationOverview,
  'state' | 'queued' | 'queuedIsMore' | 'inProcess' | 'oldestAgeSeconds' | 'failuresInARow' | 'lastError'
>;

/** The wait in seconds after which events are mentioned although nothing fails. A batch takes less time. */
const LATE_SECONDS = 60;

export function verdictOf(destination: State): Verdict {
  const { state, failuresInARow = 0, lastError, oldestAgeSeconds = 0 } = destination;
  const waits = waitingOf(destination);
  const waiting = `${whole(waits)}${destination.queuedIsMore === true ? ' and more' : ''}`;
  const events = `${waiting} ${waits === 1 ? 'event waits' : 'events wait'}`;
  const oldest = waits === 0 ? '' : ` ${events}, the oldest for ${ageOf(oldestAgeSeconds * 1000)}.`;
  if (state === 'held')
    return {
      tone: 'warn',
      label: 'Held',
      text: `Delivery is held after a restore of the database.${oldest}`,
      advice: 'Run the tool after-restore with --release once the receivers are ready for repeats.',
    };
  if (state === 'failing') {
    const message = lastError?.message ?? 'The last attempt failed';
    const attempts =
      failuresInARow === 1 ? '1 attempt has failed' : `${whole(failuresInARow)} attempts in a row failed`;
    return { tone: 'bad', label: 'Failing', text: `${message}: ${attempts}.${oldest}`, advice: adviceOf(message) };
  }
  if (waits > 0 && oldestAgeSeconds > LATE_SECONDS)
    return {
      tone: 'warn',
      label: 'Slow',
      text: `Nothing fails, but${oldest.replace(/^ ./, (first) => first.toLowerCase())}`,
      advice: 'The receiver takes long to answer, or an attempt is under way: see the durations of its events.',
    };
  return { tone: 'good', label: 'Active', text: waits === 0 ? 'All events are delivered.' : `${events} briefly.` };
}

/**
 * When the present series of failures began. The first failed attempt of the event that blocks the queue gives the
 * time. If a replay fails, no event blocks the queue. Then the latest errors give the time, or only show that it was
 * before the oldest of them.
 */
export function failingSince(
  blocking: DestinationEvent | undefined,
  lastErrors: DestinationStatus['lastErrors'],
  failuresInARow: number,
): { readonly at: string; readonly isLonger?: true } | undefined {
  const first = blocking?.attempt.find(({ delivered }) => !delivered);
  if (blocking !== undefined && first !== undefined)
    return { at: blocking.attempts > blocking.attempt.length ? (blocking.batched ?? first.ended) : first.ended };
  const known = lastErrors[failuresInARow - 1] ?? lastErrors.at(-1);
  if (known === undefined) return undefined;
  return { at: known.timestamp, ...(failuresInARow > lastErrors.length ? { isLonger: true } : {}) };
}

/** The number of undelivered events, as far as they are counted. */
export const waitingOf = ({ queued, inProcess }: Pick<DestinationOverview, 'queued' | 'inProcess'>): number =>
  queued + inProcess;

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^Connection refused/, 'Nothing listens at the endpoint. Start the receiver, or correct the endpoint.'],
  [/host name|looked up/, 'The name of the endpoint has no address. Correct the endpoint, or the DNS of the server.'],
  [/cannot be reached|timed out/, 'No route leads to the endpoint. Check firewalls, and the address of the endpoint.'],
  [/SVC_WEBHOOK_ADDRESSES/, 'The operator of the server forbids this address by SVC_WEBHOOK_ADDRESSES.'],
  [/TLS|certificate/, 'The receiver’s certificate must be valid for its host, and of a known authority.'],
  [/^No answer within/, 'The receiver must answer first and work afterwards. Else raise the timeout.'],
  [/closed before/, 'The receiver, or a proxy before it, hung up. See its log at the time of the attempt.'],
  [/^HTTP 3/, 'Redirects are not followed. Set the endpoint to the final URL.'],
  [/^HTTP 40[13]/, 'The receiver refuses the credentials. Check its headers and its secret under Settings.'],
  [/^HTTP (?:404|405|410)/, 'The receiver does not know this path. Correct the endpoint under Settings.'],
  [/^HTTP 413/, 'The notification is too large for the receiver. Lower the events of a batch under Settings.'],
  [/^HTTP 429/, 'The receiver wants fewer requests. Delivery goes on by itself when it may.'],
  [/^HTTP 4/, 'The receiver refuses the notification. Look for its webhook-id in the log of the receiver.'],
  [/^HTTP 5/, 'The receiver failed. Look for the webhook-id of the request in its log.'],
  [/outcome is unknown/, 'The server stopped or was changed during the attempt. It is repeated by itself.'],
];

/** The next step after a failed attempt. */
export const adviceOf = (message: string): string =>
  ADVICE.find(([pattern]) => pattern.test(message))?.[1] ?? 'Send a test to see what the receiver answers.';

/** Failing destinations first, then those with the longest wait, then by name. */
export function byUrgency(one: DestinationOverview, other: DestinationOverview): number {
  return (
    RANKS[one.state] - RANKS[other.state] ||
    (other.oldestAgeSeconds ?? 0) - (one.oldestAgeSeconds ?? 0) ||
    (one.id < other.id ? -1 : 1)
  );
}

const RANKS: Readonly<Record<DestinationOverview['state'], number>> = { failing: 0, held: 1, active: 2 };
