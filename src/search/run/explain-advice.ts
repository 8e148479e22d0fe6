import { type CompiledSearch } from '../../platform/database/binder';
import { type ExplainOptions } from '../query/explain-options';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';

/** An executed statement (interface, "Patient everything", diagnostics). */
export interface SearchExplanation {
  /** SQL, then the values of `$1`, `$2` … */
  readonly query: readonly unknown[];
  /** The output of EXPLAIN: text, or JSON if requested. */
  readonly plan: unknown;
  /** Advice to make it cheaper; absent if there is none. */
  readonly advice?: readonly string[];
}

/** @param lines output lines of EXPLAIN */
export function explanationOf(
  { statement, values }: CompiledSearch,
  lines: readonly { readonly 'QUERY PLAN': string }[],
  { isJson }: ExplainOptions,
  clauses: readonly SearchClause[],
): SearchExplanation {
  const query = [statement.text, ...values];
  if (isJson) return { query, plan: lines[0]?.['QUERY PLAN'] };
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
  const advice = adviceOf(plan, clauses);
  return { query, plan, ...(advice.length === 0 ? {} : { advice }) };
}

/**
 * Advice for an explained search: an index for each table with a sequential scan, and a note on clauses that no index
 * covers.
 * @param plan the text of EXPLAIN
 */
export function adviceOf(plan: string, clauses: readonly SearchClause[]): readonly string[] {
  const paths = [...new Set(clauses.flatMap(dotPathsOf))];
  return [
    ...indexesFor(plan),
    ...(clauses.some(readsBodies) ? [READS_BODIES] : []),
    ...paths.map(
      (path) => `Each candidate is read for .${path}: a SearchParameter for it, or another beside it, has an index.`,
    ),
  ];
}

const READS_BODIES =
  'A parameter or modifier is answered from the stored text (:exact, :text, :identifier, :of-type, :i, :below, "system|", _text, _content, _ilike): each candidate is read. Search by a selective parameter beside it, such as patient or a code.';

/** Finds `Seq Scan on search_date d` and the columns of its filter. */
function indexesFor(plan: string): readonly string[] {
  const lines = plan.split('\n');
  return lines.flatMap((line, index) => {
    const table = /Seq Scan on (\w+)/.exec(line)?.[1];
    if (table === undefined) return [];
    const filter = /Filter: (.*)/.exec(lines[index + 1] ?? '')?.[1] ?? '';
    const columns = [
      ...new Set([...filter.matchAll(/\b(?:\w+\.)?([a-z_]+)\)? (?:[=<>~]|&&)/g)].map(([, column]) => column)),
    ];
    const hint = columns.length === 0 ? '' : `: create index concurrently on ${table} (${columns.join(', ')})`;
    return [`The whole of ${table} was read${hint}.`];
  });
}

/** The paths of dot expressions, in FHIRPath notation. */
const dotPathsOf = (clause: SearchClause): readonly string[] =>
  clause.kind === 'path'
    ? [clause.path.replace(/^\$\.|\[\*\]$/g, '').replaceAll('"', '')]
    : nestedIn(clause).flatMap(dotPathsOf);

const readsBodies = (clause: SearchClause): boolean =>
  clause.kind === 'body' || clause.kind === 'words' || nestedIn(clause).some(readsBodies);
