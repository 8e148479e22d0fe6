/** How loud the attempts of a destination are in the log, by the words of its `logLevel`. */
export const ATTEMPT_LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type AttemptLogLevel = (typeof ATTEMPT_LOG_LEVELS)[number];
