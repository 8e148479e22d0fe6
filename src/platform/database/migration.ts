import { createHash } from 'node:crypto';

/** A change of the schema. A released one never changes: each start compares its digest (ADR 0052). */
export interface Migration {
  /** The name ends with 13 digits, by which migrations are ordered. */
  readonly name: string;
  readonly statements: readonly string[];
  /**
   * Present if the statements cannot run in one transaction, such as concurrent index builds. An interrupted migration
   * starts again with its first statement, so each must be repeatable.
   */
  readonly isApart?: true;
}

export interface MigrationSet {
  /** `core`, or the table prefix of another team's module. */
  readonly module: string;
  readonly migrations: readonly Migration[];
}

/** The SHA-256 of the SQL in hexadecimal digits. */
export const digestOf = ({ statements }: Migration): string =>
  createHash('sha256').update(JSON.stringify(statements)).digest('hex');

const tablesMatching = (statements: readonly string[], pattern: RegExp): string[] =>
  statements.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));

export const tablesMadeBy = (statements: readonly string[]): string[] =>
  tablesMatching(statements, /^\s*create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?"?(\w+)/gi);

export const functionsMadeBy = (statements: readonly string[]): string[] =>
  tablesMatching(statements, /^\s*create\s+function\s+(\w+)/gi);

export const tablesDroppedBy = (statements: readonly string[]): string[] =>
  tablesMatching(statements, /^\s*drop\s+table\s+(?:if\s+exists\s+)?"?(\w+)/gi);

/**
 * Returns statements that build an index while servers read and write its table. An interrupted build leaves an invalid
 * index, which `if not exists` would keep. So an invalid index is dropped first. The build waits for all earlier
 * transactions, so it has no time limit.
 * @param on the table, the columns and the rest of the definition
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
