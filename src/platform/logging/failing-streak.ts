import { type Logger } from '@nestjs/common';

/** Without a failure for this time, the streak is over. */
const QUIET_MILLISECONDS = 5_000;

/**
 * Logs one warning when failures begin and one when they have ended. A warning for each failed request would flood the
 * log.
 */
export class FailingStreak {
  private failures = 0;
  private startedAt = 0;
  private quiet: NodeJS.Timeout | undefined;

  constructor(
    private readonly logger: Logger,
    private readonly what: string,
  ) {}

  /** @param reason for the log, without patient data */
  fail(reason: string): void {
    this.failures++;
    this.quiet?.refresh();
    if (this.quiet !== undefined) return;
    this.startedAt = performance.now();
    this.logger.warn(`${this.what} fail: ${reason}. The next line of them follows when none has failed for 5 s`);
    this.quiet = setTimeout(() => {
      this.end();
    }, QUIET_MILLISECONDS).unref();
  }

  private end(): void {
    const seconds = Math.round((performance.now() - this.startedAt) / 1000);
    this.logger.warn(`${this.what} no longer fail: ${this.failures} did in ${seconds} s`);
    this.failures = 0;
    this.quiet = undefined;
  }
}
