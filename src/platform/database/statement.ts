import { TypeOverrides, types } from 'pg';

/**
 * A named statement: PostgreSQL plans it once per connection and keeps the plan. Names are unique in the server, and
 * the text of a name never changes. A statement with an empty name is planned at each use.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * If true, instants in its rows stay texts, as PostgreSQL prints them; for rows of which few instants are read: see
   * {@link instantOf}.
   */
  readonly hasTextInstants?: true;
  /**
   * Set if the statement only takes advisory locks until the end of its transaction: SQL that computes the key of one
   * lock from `k`, the text of one of the values (early-locks.ts).
   */
  readonly lockKey?: string;
}

/** A CTE that another module adds to a statement: both share one round trip and one transaction. */
export interface StatementPart {
  /** Becomes part of the statement's name: one name, one SQL. */
  readonly name: string;
  readonly values: readonly unknown[];
  /** A data-modifying statement for a WITH clause; `places` are the parameters of its values, such as `$7`. */
  readonly sqlOf: (places: readonly string[]) => string;
  /** Called after the commit of the statement. */
  readonly afterCommit?: () => void;
}

const madeStatements = new Map<string, Statement>();

/** A statement whose text is built on first use, for names from a bounded set of combinations. */
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
