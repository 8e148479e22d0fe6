import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { Destinations } from './destinations';
import { READ_ATTEMPTS, READ_NUMBERED, READ_QUEUED } from './timeline-statements';

export const EVENT_STATES = ['queued', 'in-process', 'delivered'] as const;
export type EventState = (typeof EVENT_STATES)[number];

/** The range of events to read; both ends are inclusive. */
export interface EventRange {
  readonly fromNumber: number | undefined;
  readonly toNumber: number | undefined;
  /** The time of the latest state: delivered, else batched, else recorded. */
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** Start of a page: below this event of the queue, or below this number. */
export type TimelineCursor = { readonly queuedBelow: number } | { readonly numberBelow: number };

export interface TimelineQuery extends EventRange {
  readonly state: EventState | undefined;
  readonly cursor: TimelineCursor | undefined;
  readonly limit: number;
}

export interface TimelineAttempt {
  readonly endedAt: Date;
  /** Null for an attempt with unknown outcome. */
  readonly durationMilliseconds: number | null;
  readonly isDelivered: boolean;
  /** Whether the event was already delivered and sent again on request. */
  readonly isReplay: boolean;
  readonly outcome: string;
}

/** One event of a destination and its history. */
export interface TimelineEvent {
  readonly state: EventState;
  /** Assigned when a batch takes the event; a replayed event keeps its number. */
  readonly number: number | null;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly interaction: string;
  /** Fixed when the event was recorded. */
  readonly isUndecided: boolean;
  readonly correlationId: string | null;
  readonly recordedAt: Date;
  readonly batchedAt: Date | null;
  readonly deliveredAt: Date | null;
  /** The latest of {@link attemptCount} attempts, oldest first. */
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

/** Reads the events of a destination with their attempts, newest first, as far back as the log of attempts. */
@Injectable()
export class Timeline {
  constructor(
    private readonly statements: Statements,
    private readonly destinations: Destinations,
  ) {}

  /** Queued events first, then numbered ones. @throws ServiceError 'not-found' */
  async read(destinationId: string, query: TimelineQuery): Promise<TimelinePage> {
    const { destinationKey } = await this.destinations.read(destinationId);
    const queued = await this.queued(destinationKey, query);
    if (queued.next !== undefined) return queued;
    const numbered = await this.numbered(destinationKey, { ...query, limit: query.limit - queued.events.length });
    return { events: [...queued.events, ...numbered.events], next: numbered.next };
  }

  private async queued(destinationKey: number, query: TimelineQuery): Promise<TimelinePage> {
    const { cursor, state, limit } = query;
    if ((state ?? 'queued') !== 'queued' || (cursor !== undefined && 'numberBelow' in cursor)) return NOTHING;
    const below = cursor?.queuedBelow;
    const values = [destinationKey, below, ...rangeValues(query), limit + 1];
    const rows = await this.statements.run<EventRow & { readonly eventId: number }>(READ_QUEUED, values);
    const events = rows.slice(0, limit).map((row) => ({ ...row, attempts: [], attemptCount: 0 }));
    const last = rows[limit - 1];
    return { events, next: rows.length > limit && last !== undefined ? { queuedBelow: last.eventId } : undefined };
  }

  /** If the page is already full, this reads one event to see whether there are more. */
  private async numbered(destinationKey: number, query: TimelineQuery): Promise<TimelinePage> {
    const { cursor, state, limit } = query;
    if (state === 'queued') return NOTHING;
    const below = cursor !== undefined && 'numberBelow' in cursor ? cursor.numberBelow : undefined;
    const isWanted = (wanted: EventState): boolean => state === undefined || state === wanted;
    const rows = await this.statements.run<EventRow & { readonly number: number }>(READ_NUMBERED, [
      ...[destinationKey, below, ...rangeValues(query), limit + 1],
      ...[isWanted('in-process'), isWanted('delivered')],
    ]);
    const shown = rows.slice(0, limit);
    const attempts = await this.attemptsOn(destinationKey, shown);
    const [more] = rows.slice(limit);
    return {
      events: shown.map((row) => ({ ...row, ...attemptsOf(row.number, attempts) })),
      next: more === undefined ? undefined : { numberBelow: more.number + 1 },
    };
  }

  private async attemptsOn(
    destinationKey: number,
    rows: readonly { readonly number: number }[],
  ): Promise<readonly AttemptRow[]> {
    const [largest, smallest] = [rows[0], rows.at(-1)];
    if (largest === undefined || smallest === undefined) return [];
    return this.statements.run<AttemptRow>(READ_ATTEMPTS, [destinationKey, smallest.number, largest.number]);
  }
}

const NOTHING: TimelinePage = { events: [], next: undefined };

/** In the order of the statements: time, then numbers. */
export const rangeValues = ({ since, until, fromNumber, toNumber }: EventRange): readonly unknown[] => [
  since,
  until,
  fromNumber,
  toNumber,
];

function attemptsOf(number: number, rows: readonly AttemptRow[]): Pick<TimelineEvent, 'attempts' | 'attemptCount'> {
  const attempts = rows.filter(({ firstNumber: first, eventCount }) => first <= number && number < first + eventCount);
  const totals = new Map(attempts.map((row) => [`${row.firstNumber} ${row.eventCount} ${row.isReplay}`, row.total]));
  return { attempts, attemptCount: [...totals.values()].reduce((sum, total) => sum + total, 0) };
}
