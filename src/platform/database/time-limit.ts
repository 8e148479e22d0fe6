import { ServiceError } from '../errors/service-error';
import { databaseErrorToServiceError } from './database-error';

/**
 * For this time after its start, a limit sets nothing in PostgreSQL: the limit that each single statement has anyway is
 * enough.
 */
const YOUNG_MILLISECONDS = 1_000;

/** A time limit for all statements of one task together ({@link Statements.within}). */
export class TimeLimit {
  private readonly startedAt = performance.now();

  /**
   * @param seconds the time for all statements, with their wait for a connection
   * @param refusal the error after the limit, or its message: what took too long, and what to do
   * @param isOfStatements whether each statement has the same limit anyway
   */
  constructor(
    private readonly seconds: number,
    private readonly refusal: string | (() => ServiceError),
    private readonly isOfStatements = false,
  ) {}

  /** Whether a statement that begins now needs no other limit than its own. */
  get isKept(): boolean {
    return this.isOfStatements && performance.now() - this.startedAt < YOUNG_MILLISECONDS;
  }

  /** @throws ServiceError 'timeout' if no time is left */
  get millisecondsLeft(): number {
    this.assertLeft();
    return Math.trunc(this.endsAt - performance.now());
  }

  /** @throws ServiceError 'timeout' if no time is left */
  assertLeft(): void {
    if (this.endsAt - performance.now() < 1) throw this.refused();
  }

  endsBefore(other: TimeLimit): boolean {
    return this.endsAt < other.endsAt;
  }

  private get endsAt(): number {
    return this.startedAt + this.seconds * 1000;
  }

  /** Returns the error of a statement that may have exceeded the limit, as the caller gets it. */
  refusalOf(error: unknown): unknown {
    return databaseErrorToServiceError(error)?.kind === 'timeout' ? this.refused(error) : error;
  }

  private refused(cause?: unknown): ServiceError {
    const { refusal } = this;
    return typeof refusal === 'string' ? new ServiceError('query-timeout', refusal, {}, { cause }) : refusal();
  }
}
