import { ServiceError } from '../errors/service-error';

/** In this time, the limit of each single statement is sufficient, and costs nothing. */
const YOUNG_MILLISECONDS = 1_000;

/** Bounds the statements of one piece of work together ({@link Statements.within}). */
export class TimeLimit {
  private readonly startedAt = performance.now();

  /**
   * @param seconds for all statements, including their wait for a connection
   * @param message tells the caller what took too long, and the remedy
   * @param isOfStatements whether each statement has the same limit anyway
   */
  constructor(
    private readonly seconds: number,
    private readonly message: string,
    private readonly isOfStatements = false,
  ) {}

  /** Whether the own limit of a statement that begins now is sufficient. */
  get isKept(): boolean {
    return this.isOfStatements && performance.now() - this.startedAt < YOUNG_MILLISECONDS;
  }

  /**
   * @throws ServiceError 'timeout' if no time is left
   * @throws ServiceError 'timeout' when there is none
   */
  get millisecondsLeft(): number {
    this.assertLeft();
    return Math.trunc(this.endsAt - performance.now());
  }

  /**
   * @throws ServiceError 'timeout' after the limit
   * @throws ServiceError 'timeout' when the time is over
   */
  assertLeft(): void {
    if (this.endsAt - performance.now() < 1) throw this.refusal();
  }

  endsBefore(other: TimeLimit): boolean {
    return this.endsAt < other.endsAt;
  }

  private get endsAt(): number {
    return this.startedAt + this.seconds * 1000;
  }

  refusal(cause?: unknown): ServiceError {
    return new ServiceError('timeout', this.message, { code: 'query-timeout' }, { cause });
  }
}
