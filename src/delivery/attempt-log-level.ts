/** Log levels for the attempts of a destination, as named in its `logLevel`. */
export const ATTEMPT_LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type AttemptLogLevel = (typeof ATTEMPT_LOG_LEVELS)[number];
