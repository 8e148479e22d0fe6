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
