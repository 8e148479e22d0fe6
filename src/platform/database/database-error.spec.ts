import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import {
  TransactionConflict,
  databaseErrorToServiceError,
  isTransactionConflict,
  isUniqueViolation,
} from './database-error';

/** Makes an error of PostgreSQL if `code` is a SQLSTATE, else one of the network. */
const failure = (code: string, members: object = {}): Error => {
  const detail = 'detail that no caller may see';
  const error = /^\d/.test(code) ? new DatabaseError(detail, detail.length, 'error') : new Error(detail);
  return Object.assign(error, { code, ...members });
};
const throughTypeOrm = (error: Error): Error => new QueryFailedError('select 1', [], error);

describe('errors of the database', () => {
  it.each(['40001', '40P01'])('classify SQLSTATE %s as a conflict, which is retried', (code) => {
    expect([isTransactionConflict(failure(code)), isTransactionConflict(throughTypeOrm(failure(code)))]).toEqual([
      true,
      true,
    ]);
  });

  it.each([failure('23505'), failure('ECONNRESET'), new Error('40001'), '40001', undefined])(
    'do not classify %p as a conflict',
    (error) => {
      expect(isTransactionConflict(error)).toBe(false);
    },
  );

  it('identify a unique violation by its constraint', () => {
    const error = throughTypeOrm(failure('23505', { constraint: 'user_login_user_name_idx' }));
    expect([isUniqueViolation(error, 'user_login_user_name_idx'), isUniqueViolation(error, 'other_idx')]).toEqual([
      true,
      false,
    ]);
  });

  it.each<[string, Error, string | undefined]>([
    ['a conflict after the last retry', new TransactionConflict('lost'), 'busy'],
    ['a deadlock', failure('40P01'), 'busy'],
    ['a cancelled query', failure('57014'), 'timeout'],
    ['a lock timeout', failure('55P03'), 'busy'],
    ['a shutdown', failure('57P01'), 'busy'],
    ['too many connections', failure('53300'), 'busy'],
    ['a lost connection', failure('08006'), 'busy'],
    ['a refused connection', failure('ECONNREFUSED'), 'busy'],
    ['a connection that ended', new Error('Connection terminated unexpectedly'), 'busy'],
    ['an exhausted pool', new Error('timeout exceeded when trying to connect'), 'busy'],
    ['a unique violation', failure('23505'), undefined],
    ['a syntax error', failure('42601'), undefined],
    ['a full disk of this server', failure('ENOSPC'), undefined],
    ['any other error', new Error('bug'), undefined],
  ])('map %s to the error of the caller', (_case, error, kind) => {
    const [direct, wrapped] = [databaseErrorToServiceError(error), databaseErrorToServiceError(throughTypeOrm(error))];
    expect(direct?.kind).toBe(kind);
    expect(direct?.details.retryAfterSeconds).toBe(kind === 'busy' ? 1 : undefined);
    expect(direct?.message ?? '').not.toContain('detail that no caller may see');
    // TypeORM wraps errors of PostgreSQL (with a SQLSTATE), but not errors of the network.
    if (error instanceof DatabaseError) expect(wrapped?.kind).toBe(kind);
  });
});
