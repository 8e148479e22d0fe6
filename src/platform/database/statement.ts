import { TypeOverrides, types } from 'pg';

/**
 * A named statement, which PostgreSQL plans once per connection. Names are unique in the server, and the text of a name
 * never changes. A statement with an empty name is planned at each use.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * Present if the statement only takes advisory locks until the end of its transaction. It is SQL that computes the
   * key of a lock from `k`, one of the texts that the statement gets as its value (early-locks.ts).
   */
  readonly lockKey?: string;
}

/** A CTE that another module adds to a statement, so that both run in one round trip and one transaction. */
export interface StatementPart {
  /** Name of the CTE, and a part of the statement's name: one name must always have the same SQL. */
  readonly name: string;
  readonly values: readonly unknown[];
  /**
   * Returns a data-modifying statement for a WITH clause. `places` are the SQL parameters of its values, such as `$7`.
   */
  readonly sqlOf: (places: readonly string[]) => string;
  readonly afterCommit?: () => void;
}

const madeStatements = new Map<string, Statement>();

/** Returns the statement of a name, whose text is made at the first use. The possible names must be bounded. */
export function statementNamed(name: string, textOf: () => string): Statement {
  const known = madeStatements.get(name) ?? { name, text: textOf() };
  madeStatements.set(name, known);
  return known;
}

/**
 * Type parsers of all statements. They read bigint as number: the bigint values of this server (row keys, 53-bit
 * hashes, counters) are exact as numbers. Those of modules may not be, so TypeORM reads bigint as text.
 */
export const STATEMENT_TYPES = new TypeOverrides();
STATEMENT_TYPES.setTypeParser(types.builtins.INT8, Number);
