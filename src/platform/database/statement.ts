import { TypeOverrides, types } from 'pg';

/**
 * A named statement: PostgreSQL plans it once per connection and keeps the plan.
 * Names are unique in the whole server; the text of a name never changes. An empty name is planned anew each time.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * Instants of its rows come as PostgreSQL prints them, for rows of which few are looked at: see {@link instantOf}.
   */
  readonly hasTextInstants?: true;
  /**
   * Set where the statement takes advisory locks until the end of its transaction and does nothing else: SQL that makes
   * the key of one lock out of `k`, the text of one of the values (early-locks.ts).
   */
  readonly lockKey?: string;
}

/** A CTE that another module adds to a statement: both are one round trip and one transaction. */
export interface StatementPart {
  /** Becomes part of the statement's name: one name, one SQL. */
  readonly name: string;
  readonly values: readonly unknown[];
  /** A data-modifying statement, to stand in a WITH; `places` are those of the values, such as `$7`. */
  readonly sqlOf: (places: readonly string[]) => string;
  /** Once the statement has committed. */
  readonly afterCommit?: () => void;
}

const madeStatements = new Map<string, Statement>();

/** A statement whose text is made at its first use: for names that stand for a bounded number of combinations. */
export function statementNamed(name: string, textOf: () => string): Statement {
  const known = madeStatements.get(name) ?? { name, text: textOf() };
  madeStatements.set(name, known);
  return known;
}

/** Our bigint values (row keys, 53-bit hashes, counters) are exact as numbers. */
export const STATEMENT_TYPES = new TypeOverrides();
STATEMENT_TYPES.setTypeParser(types.builtins.INT8, Number);

/** For statements with `hasTextInstants`. */
export const TEXT_INSTANT_TYPES = new TypeOverrides();
TEXT_INSTANT_TYPES.setTypeParser(types.builtins.INT8, Number);
TEXT_INSTANT_TYPES.setTypeParser(types.builtins.TIMESTAMPTZ, (text: string) => text);

/** Reads an instant as PostgreSQL prints it. */
export const instantOf = types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => Date;
