import { setTimeout as delay } from 'node:timers/promises';
import { connectionErrorOf, noAnswerError, reasonOfError } from '../no-answer';
import { type LoadEntry, type LoadUnit, bundleTextOf } from './load-unit';

/** The server to load into, and the credentials. */
export interface LoadTarget {
  /** The FHIR base, without a trailing slash. */
  readonly baseUrl: string;
  readonly authorization: string;
  /** Waits between tries; specs replace it. */
  readonly wait?: (seconds: number) => Promise<unknown>;
}

export interface Failure {
  readonly entry: LoadEntry;
  /** HTTP status; 0 when no response arrived. */
  readonly status: number;
  readonly reason: string;
}

const MAX_TRIES = 8;
const MAX_WAIT_SECONDS = 60;
const TIMEOUT_SECONDS = 300;
const FIRST_ANSWER_SECONDS = 10;
const PASSING = new Set([429, 503, 504]);

interface Answer {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly text: string;
}

/** Checks that the server answers, with any status. @throws Error that names the settings when it does not */
export async function assertAnswers({ baseUrl }: LoadTarget): Promise<void> {
  const signal = AbortSignal.timeout(FIRST_ANSWER_SECONDS * 1000);
  try {
    await (await fetch(baseUrl.replace(/fhir$/, 'health'), { signal })).text();
  } catch (error) {
    throw noAnswerError(baseUrl, error);
  }
}

/** Sends a unit until it is done, or its remaining entries cannot succeed. Returns the failures. */
export async function sendUnit(target: LoadTarget, unit: LoadUnit): Promise<Failure[]> {
  const failures: Failure[] = [];
  let left = unit.entries;
  for (let tries = 1; left.length > 0; tries++) {
    const answer = await post(target, bundleTextOf({ ...unit, entries: left }));
    const isLast = tries >= MAX_TRIES;
    const again = answer.status === 200 ? passingEntries(answer, left, failures, isLast) : left;
    if (answer.status !== 200 && (isLast || !mayRepeat(answer.status, left))) {
      return [...failures, ...failuresOfAll(answer, left)];
    }
    left = again;
    if (left.length > 0) await (target.wait ?? waited)(pauseOf(answer, tries));
  }
  return failures;
}

/** Records permanent failures, and returns the entries that may succeed later. */
function passingEntries(answer: Answer, sent: readonly LoadEntry[], failures: Failure[], isLast: boolean): LoadEntry[] {
  const { entry: answers = [] } = JSON.parse(answer.text) as {
    entry?: readonly { response?: { status?: string; outcome?: unknown } }[];
  };
  const again: LoadEntry[] = [];
  for (const [index, entry] of sent.entries()) {
    const { status: text = '0', outcome } = answers[index]?.response ?? {};
    const status = Number.parseInt(text, 10);
    if (status >= 200 && status < 400) continue;
    if (!isLast && (status === 429 || status === 503 || (status === 504 && entry.isRepeatable))) again.push(entry);
    else failures.push({ entry, status, reason: reasonOf(outcome) });
  }
  return again;
}

/**
 * Whether a failed request may be sent again. A refused request changed nothing. Without a response, or after a
 * timeout, the outcome is unknown, so all entries must be repeatable.
 */
function mayRepeat(status: number, entries: readonly LoadEntry[]): boolean {
  if (status === 429 || status === 503) return true;
  return (status === 0 || PASSING.has(status)) && entries.every(({ isRepeatable }) => isRepeatable);
}

/**
 * The failures of a transaction. One failed entry fails the whole transaction: that entry is named, and the others are
 * counted as failed.
 */
function failuresOfAll({ status, text }: Answer, entries: readonly LoadEntry[]): Failure[] {
  const outcome = parsed(text);
  const reason = status === 0 ? `${text}; whether it was stored is not known` : reasonOf(outcome);
  const named = /Bundle\.entry\[(\d+)\]/.exec(reason)?.[1];
  const guilty = named === undefined ? undefined : entries[Number(named)];
  if (guilty === undefined) return entries.map((entry) => ({ entry, status, reason }));
  return entries.map((entry) => ({
    entry,
    status,
    reason: entry === guilty ? reason : `not stored, since ${guilty.place} was refused`,
  }));
}

function reasonOf(outcome: unknown): string {
  const { issue = [] } = (outcome ?? {}) as { issue?: readonly { diagnostics?: string; code?: string }[] };
  return issue.map(({ diagnostics, code }) => diagnostics ?? code ?? '').join('; ') || 'no reason given';
}

async function post({ baseUrl, authorization }: LoadTarget, body: string): Promise<Answer> {
  try {
    const response = await fetch(baseUrl, {
      method: 'POST',
      headers: {
        Authorization: authorization,
        'Content-Type': 'application/fhir+json',
        Accept: 'application/fhir+json',
        Prefer: 'return=minimal',
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
    return {
      status: response.status,
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
      text: await response.text(),
    };
  } catch (error) {
    const cause = connectionErrorOf(error);
    // A refused connection has sent nothing, so it is treated like a busy server.
    const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
    return { status: isRefused ? 503 : 0, retryAfterSeconds: undefined, text: `No answer: ${reasonOfError(error)}` };
  }
}

/** The pause before the next try: as the server requests, else 0.5 s, doubled at each try. */
const pauseOf = ({ retryAfterSeconds }: Answer, tries: number): number =>
  Math.min(retryAfterSeconds ?? 2 ** (tries - 2), MAX_WAIT_SECONDS);

const waited = (seconds: number): Promise<unknown> => delay(seconds * 1000);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { issue: [{ diagnostics: text.slice(0, 300) }] };
  }
}
