import { type Logger } from '@nestjs/common';

/** The log levels that a destination may name, each with the method of the logger. */
export const ATTEMPT_LOG_METHODS = {
  error: 'error',
  warn: 'warn',
  info: 'log',
  debug: 'debug',
  trace: 'verbose',
} as const satisfies Record<string, keyof Logger>;
export type AttemptLogLevel = keyof typeof ATTEMPT_LOG_METHODS;
