import { ServiceError } from '../errors/service-error';

/** Within it the limit of each single statement is as good as one of them all, and costs nothing. */
const YOUNG_MILLISECONDS = 1_000;

/** Bounds the statements of one piece of work together ({@link Statements.within}). */
export class TimeLimit {
  private readonly startedAt = performance.now();

  /**
   * @param seconds of all statements, their waiting for a connection included
   * @param message tells the caller what took too long, and what helps
   * @param isOfStatements whether each statement has the same limit anyway
   */
  constructor(
    private readonly seconds: number,
    private readonly message: string,
    private readonly isOfStatements = false,
  ) {}

  /** Whether a statement that begins now is bounded well enough by its own limit. */
  get isKept(): boolean {
    return this.isOfStatements && performance.now() - this.startedAt < YOUNG_MILLISECONDS;
  }

  /** @throws ServiceError 'timeout' when there is none */
  get millisecondsLeft(): number {
    const left = Math.trunc(this.seconds * 1000 - (performance.now() - this.startedAt));
    if (left < 1) throw this.refusal();
    return left;
  }

  refusal(cause?: unknown): ServiceError {
    return new ServiceError('timeout', this.message, {}, { cause });
  }
}
