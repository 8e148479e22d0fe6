/** The log levels that the `logLevel` of a destination may name. Its attempts are logged at this level. */
export const ATTEMPT_LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type AttemptLogLevel = (typeof ATTEMPT_LOG_LEVELS)[number];
