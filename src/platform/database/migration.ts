import { createHash } from 'node:crypto';

/** One step of the schema. It never changes once it is released: the start compares digests (ADR 0052). */
export interface Migration {
  /** Ends with the 13 digits that order migrations. */
  readonly name: string;
  readonly statements: readonly string[];
  /**
   * Set if the statements cannot share a transaction, such as concurrent index builds. An interrupted migration starts
   * again with its first statement, so each statement must be repeatable.
   */
  readonly isApart?: true;
}

/** The migrations of one module, in order. */
export interface MigrationSet {
  /** `core`, or the table prefix of another team's module. */
  readonly module: string;
  readonly migrations: readonly Migration[];
}

/** SHA-256 of the SQL, in hexadecimal digits. */
export const digestOf = ({ statements }: Migration): string =>
  createHash('sha256').update(JSON.stringify(statements)).digest('hex');

/** Names of the tables that SQL creates. */
export const tablesMadeBy = (statements: readonly string[]): string[] =>
  statements.flatMap((text) =>
    [...text.matchAll(/^\s*create (?:unlogged )?table (\w+)/g)].map(([, name = '']) => name),
  );

/** Names of the tables that SQL drops. */
export const tablesDroppedBy = (statements: readonly string[]): string[] =>
  statements.flatMap((text) => [...text.matchAll(/^\s*drop table (\w+)/g)].map(([, name = '']) => name));

/**
 * Builds an index while servers read and write its table. An interrupted build leaves an invalid index, which `if not
 * exists` would keep, so that is dropped first. The build waits for each earlier transaction, so it has no time limit.
 * @param on table, columns and the rest of the definition
 */
export const indexConcurrently = (name: string, on: string): string[] => [
  `do $$ begin
    if exists (select from pg_index where indexrelid = to_regclass('${name}') and not indisvalid) then drop index ${name}; end if;
  end $$`,
  `select set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false)`,
  `create index concurrently if not exists ${name} on ${on}`,
  'reset lock_timeout',
  'reset statement_timeout',
];
