import { type BoundStatement } from '../../store/binder';
import { type ExplainOptions } from '../query/explain-options';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { type NamedParameter } from './named-parameters';

/** A statement with its plan. Searches and Patient/$everything return it if a client requests it. */
export interface SearchExplanation {
  /** The SQL, followed by the values of `$1`, `$2` … */
  readonly query: readonly unknown[];
  /** The output of EXPLAIN: text, or JSON if requested. */
  readonly plan: unknown;
  readonly parameters?: readonly NamedParameter[];
  readonly advice?: readonly string[];
}

export function explanationOf(
  { statement, values }: BoundStatement,
  lines: readonly { readonly 'QUERY PLAN': string }[],
  { isJson }: ExplainOptions,
  clauses: readonly SearchClause[] = [],
  parameters: readonly NamedParameter[] = [],
): SearchExplanation {
  const plan: unknown = isJson ? lines[0]?.['QUERY PLAN'] : lines.map((line) => line['QUERY PLAN']).join('\n');
  const advice = adviceOf(clauses);
  return {
    query: [statement.text, ...values],
    plan,
    ...(parameters.length > 0 && { parameters }),
    ...(advice.length > 0 && { advice }),
  };
}

/** Advice on clauses without an index. The plan gives none, since our sessions turn sequential scans off. */
export function adviceOf(clauses: readonly SearchClause[]): readonly string[] {
  const paths = [...new Set(clauses.flatMap(dotPathsOf))];
  return [
    ...(clauses.some(readsBodies) ? [READS_BODIES] : []),
    ...paths.map(
      (path) => `Each candidate is read for .${path}: a SearchParameter for it, or another beside it, has an index.`,
    ),
  ];
}

const READS_BODIES =
  'A parameter or modifier is answered from the stored text (:exact, :text, :identifier, :of-type, :i, :below, "system|", _text, _content, _ilike): each candidate is read. Search by a selective parameter beside it, such as patient or a code.';

/** The paths of dot expressions, in FHIRPath notation. */
const dotPathsOf = (clause: SearchClause): readonly string[] =>
  clause.kind === 'path'
    ? [clause.path.replace(/^\$\.|\[\*\]$/g, '').replaceAll('"', '')]
    : nestedIn(clause).flatMap(dotPathsOf);

const readsBodies = (clause: SearchClause): boolean =>
  clause.kind === 'body' || clause.kind === 'words' || nestedIn(clause).some(readsBodies);
