import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { type ErrorCode } from '../errors/error-codes';
import { type ErrorKind } from '../errors/error-kind';
import { ServiceError } from '../errors/service-error';
import { systemCodeOf } from '../errors/system-error';
import { ROW_FORMAT_CONSTRAINT } from './row-format';

/** Thrown when another transaction changed the same data concurrently. The unit of work is then restarted. */
export class TransactionConflict extends Error {
  override readonly name = 'TransactionConflict';
}

// SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const UNIQUE_VIOLATION = '23505';
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
const IDLE_IN_TRANSACTION_SESSION_TIMEOUT = '25P03';
const CHARACTER_NOT_IN_REPERTOIRE = '22021';
export const READ_ONLY_TRANSACTION = '25006';

export function isTransactionConflict(error: unknown): boolean {
  const { code } = postgresErrorOf(error) ?? {};
  return error instanceof TransactionConflict || code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Whether `error` is a conflict that an SQL function of the schema raised with this constraint name. */
export function isConflictOf(error: unknown, constraint: string): boolean {
  return isTransactionConflict(error) && postgresErrorOf(error)?.constraint === constraint;
}

/** Whether `error` is a violation of the unique constraint or index named `constraint`. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const found = postgresErrorOf(error);
  return found?.code === UNIQUE_VIOLATION && found.constraint === constraint;
}

export const isLockNotAvailable = (error: unknown): boolean => postgresErrorOf(error)?.code === LOCK_NOT_AVAILABLE;

/** Whether PostgreSQL ended the session, since its transaction sent no statement for too long. */
export const isIdleTimeout = (error: unknown): boolean =>
  postgresErrorOf(error)?.code === IDLE_IN_TRANSACTION_SESSION_TIMEOUT;

export const isInsufficientPrivilege = (error: unknown): error is Error =>
  postgresErrorOf(error)?.code === INSUFFICIENT_PRIVILEGE;

/** Returns the error for callers; undefined for an unknown error, for which every route sends 500. */
export function databaseErrorToServiceError(error: unknown): ServiceError | undefined {
  const found = refusalOf(error);
  if (found === undefined) return undefined;
  const [kind, code, message, retryAfterSeconds] = found;
  const details = { code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  return new ServiceError(kind, message, details, { cause: error });
}

type Refusal = readonly [kind: ErrorKind, code: ErrorCode, message: string, retryAfterSeconds?: number];

function refusalOf(error: unknown): Refusal | undefined {
  // Several hosts or addresses failed. The first known failure counts, since another host may be available soon.
  if (error instanceof AggregateError) return error.errors.map(refusalOf).find((refusal) => refusal !== undefined);
  if (isTransactionConflict(error))
    return ['busy', 'write-conflict', 'Too many writes to the same resource at once. Try again.', 1];
  const { code = systemCodeOf(error) ?? '', constraint } = postgresErrorOf(error) ?? {};
  if (code === QUERY_CANCELED)
    return ['timeout', 'query-timeout', 'The query took longer than allowed. Ask for less, or raise the time limit.'];
  if (code === CHARACTER_NOT_IN_REPERTOIRE)
    return ['invalid', 'body-forbidden-text', 'The request holds a character that no text can hold (NUL).'];
  if (constraint === ROW_FORMAT_CONSTRAINT) {
    const message =
      'A newer release has migrated the database, and this server may only read. Send writes to a server of that release.';
    return ['busy', 'release-outdated', message, 60];
  }
  if (code === READ_ONLY_TRANSACTION)
    return ['busy', 'database-read-only', 'The database takes no writes now: it is a standby. Try again.', 5];
  const isUnavailable = code === LOCK_NOT_AVAILABLE || /^(08|53|57P)/.test(code) || UNREACHABLE.has(code);
  if (!isUnavailable && !isLostConnection(error)) return undefined;
  return ['busy', 'database-unavailable', 'The database is not available. Try again.', 1];
}

const UNREACHABLE = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN'.split(' '),
);

/** Whether `error` is a broken connection or an exhausted pool. node-postgres reports both without a code. */
function isLostConnection(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout)|and is not queryable$/.test(
      error.message,
    )
  );
}

function postgresErrorOf(error: unknown): DatabaseError | undefined {
  const inner: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return inner instanceof DatabaseError ? inner : undefined;
}
