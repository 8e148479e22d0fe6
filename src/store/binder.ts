import { createHash } from 'node:crypto';
import { type Statement } from '../platform/database/statement';
import { ServiceError } from '../platform/errors/service-error';

/** A statement with its values. */
export interface BoundStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/**
 * Maximum number of values of one statement. PostgreSQL allows 65,535, but would plan that many alternatives for
 * seconds.
 */
const MAX_VALUES = 10_000;

/** Collects the values of a statement, so that no value is ever part of its text. */
export class Binder {
  private readonly values: unknown[] = [];

  /**
   * Adds a value and returns its placeholder.
   * @throws ServiceError 'invalid' for a search with more values than a statement should have
   */
  value(value: unknown): string {
    if (this.values.length >= MAX_VALUES)
      throw new ServiceError('search-too-large', 'The search asks for too many values at once; ask for fewer.');
    return `$${this.values.push(value)}`;
  }

  /**
   * Makes a statement of this text, and returns it with the collected values. Its name is derived from the text, so all
   * searches of one shape share a prepared statement, whatever their values are.
   */
  finish(text: string): BoundStatement {
    return { statement: statementOf(text), values: this.values };
  }
}

/**
 * Maximum number of named statements of searches. Each name is a plan in each connection, and real clients use a few
 * dozen.
 */
const MAX_NAMES = 500;
const statements = new Map<string, Statement>();

/**
 * The statement of a text. When all names are used, it gets no name and is planned at each use, so that unusual queries
 * cannot fill the memory.
 */
function statementOf(text: string): Statement {
  const known = statements.get(text);
  if (known !== undefined) return known;
  if (statements.size >= MAX_NAMES) return { name: '', text };
  const name = `search-${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  const statement = { name, text };
  statements.set(text, statement);
  return statement;
}
