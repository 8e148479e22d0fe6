import { type Logger } from '@nestjs/common';
import { type AttemptLogLevel } from './attempt-log-level';
import { type AttemptResult, type ClaimedBatch } from './delivery-queue';

const METHODS = {
  error: 'error',
  warn: 'warn',
  info: 'log',
  debug: 'debug',
  trace: 'verbose',
} as const satisfies Record<AttemptLogLevel, keyof Logger>;

/**
 * Logs the result of an attempt, if the destination has a log level. The entry contains numbers and the outcome that
 * `$events` shows, and no data of the events.
 */
export function recordAttempt(
  logger: Logger,
  { attemptLogLevel, destinationId, firstNumber, eventCount, failStreak }: ClaimedBatch,
  { durationMilliseconds, outcome }: AttemptResult,
  isDelivered: boolean,
): void {
  if (attemptLogLevel === null) return;
  logger[METHODS[attemptLogLevel]]({
    event: 'delivery attempt',
    destination: destinationId,
    firstNumber,
    lastNumber: firstNumber + eventCount - 1,
    attempt: failStreak + 1,
    isDelivered,
    outcome,
    durationMilliseconds,
  });
}
