import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { Destinations } from './destinations';
import { MAX_NUMBER, READ_ATTEMPTS, READ_NUMBERED, READ_QUEUED } from './timeline-statements';

export const EVENT_STATES = ['queued', 'in-process', 'delivered'] as const;
export type EventState = (typeof EVENT_STATES)[number];

/** Both ends are included. */
export interface EventRange {
  readonly fromNumber: number | undefined;
  readonly toNumber: number | undefined;
  /** The earliest time, of the latest state of an event: delivered, else batched, else recorded. */
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** The start of a page: below an event of the queue, or else below an event number. */
export interface TimelineCursor {
  readonly queuedBelow?: number;
  readonly numberBelow?: number;
}

export interface TimelineQuery extends EventRange, TimelineCursor {
  readonly state: EventState | undefined;
  readonly limit: number;
}

export interface TimelineAttempt {
  readonly endedAt: Date;
  /** Null for an attempt whose outcome is unknown. */
  readonly durationMilliseconds: number | null;
  readonly isDelivered: boolean;
  /** Whether the attempt sent, on request, an event that was already delivered before. */
  readonly isReplay: boolean;
  readonly outcome: string;
}

export interface TimelineEvent {
  readonly state: EventState;
  /** The event number, assigned when the event moves into a batch; null before. A replayed event keeps its number. */
  readonly number: number | null;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly interaction: string;
  /** Whether the criterion could not be evaluated when the event was recorded. */
  readonly isUndecided: boolean;
  readonly correlationId: string | null;
  readonly recordedAt: Date;
  readonly batchedAt: Date | null;
  readonly deliveredAt: Date | null;
  /** The latest attempts, oldest first. There were {@link attemptCount} attempts in all. */
  readonly attempts: readonly TimelineAttempt[];
  readonly attemptCount: number;
}

export interface TimelinePage {
  readonly events: readonly TimelineEvent[];
  readonly next: TimelineCursor | undefined;
}

type EventRow = Omit<TimelineEvent, 'attempts' | 'attemptCount'>;

interface AttemptRow extends TimelineAttempt {
  readonly firstNumber: number;
  readonly eventCount: number;
  readonly total: number;
}

/** Reads the events of a destination with their attempts, newest first, as far back as the log of attempts is kept. */
@Injectable()
export class Timeline {
  constructor(
    private readonly statements: Statements,
    private readonly destinations: Destinations,
  ) {}

  /**
   * Reads a page: first queued events, then events with a number. The read waits for a slot, like a search: it may pass
   * many events to find those of a range of times.
   * @throws ServiceError 'not-found'
   */
  read(destinationId: string, query: TimelineQuery): Promise<TimelinePage> {
    const limit = new TimeLimit(READING_SECONDS, 'The events took too long to read. Name a smaller range.', true);
    return this.statements.within(limit, () => this.page(destinationId, query));
  }

  private async page(destinationId: string, query: TimelineQuery): Promise<TimelinePage> {
    const { destinationKey } = await this.destinations.read(destinationId);
    const queued = await this.queued(destinationKey, query);
    if (queued.next !== undefined) return queued;
    const numbered = await this.numbered(destinationKey, { ...query, limit: query.limit - queued.events.length });
    return { events: [...queued.events, ...numbered.events], next: numbered.next };
  }

  private async queued(destinationKey: number, query: TimelineQuery): Promise<TimelinePage> {
    const { queuedBelow, numberBelow, state, limit } = query;
    if ((state ?? 'queued') !== 'queued' || numberBelow !== undefined) return NOTHING;
    const values = [...rangeValues(destinationKey, limit + 1, query), queuedBelow];
    const rows = await this.statements.run<EventRow & { readonly eventId: number }>(READ_QUEUED, values);
    const events = rows.slice(0, limit).map((row) => ({ ...row, attempts: [], attemptCount: 0 }));
    const last = rows[limit - 1];
    return { events, next: rows.length > limit && last !== undefined ? { queuedBelow: last.eventId } : undefined };
  }

  /** Reads events with a number. If queued events fill the page, it reads one to see whether there are more. */
  private async numbered(destinationKey: number, query: TimelineQuery): Promise<TimelinePage> {
    const { state, limit, toNumber = MAX_NUMBER, numberBelow = MAX_NUMBER } = query;
    if (state === 'queued') return NOTHING;
    const below = { ...query, toNumber: Math.min(toNumber, numberBelow - 1) };
    const isOpen = state === undefined ? null : state === 'in-process';
    const values = [...rangeValues(destinationKey, limit + 1, below), isOpen];
    const rows = await this.statements.run<EventRow & { readonly number: number }>(READ_NUMBERED, values);
    const shown = rows.slice(0, limit);
    const more = rows[limit];
    const range = [destinationKey, shown.at(-1)?.number, shown[0]?.number];
    const attempts = shown.length === 0 ? [] : await this.statements.run<AttemptRow>(READ_ATTEMPTS, range);
    return {
      events: shown.map((row) => ({ ...row, ...attemptsOf(row.number, attempts) })),
      next: more === undefined ? undefined : { numberBelow: more.number + 1 },
    };
  }
}

const READING_SECONDS = 30;

const NOTHING: TimelinePage = { events: [], next: undefined };

/** The values $1 to $6 of the statements on a range. */
export const rangeValues = (
  destinationKey: number,
  limit: number,
  { since, until, fromNumber, toNumber }: EventRange,
): readonly unknown[] => [destinationKey, limit, since, until, fromNumber, toNumber];

function attemptsOf(number: number, rows: readonly AttemptRow[]): Pick<TimelineEvent, 'attempts' | 'attemptCount'> {
  const attempts = rows.filter(({ firstNumber: first, eventCount }) => first <= number && number < first + eventCount);
  const totals = new Map(attempts.map((row) => [`${row.firstNumber} ${row.eventCount} ${row.isReplay}`, row.total]));
  return { attempts, attemptCount: [...totals.values()].reduce((sum, total) => sum + total, 0) };
}
