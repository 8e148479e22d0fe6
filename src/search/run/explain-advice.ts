import { type BoundStatement } from '../../store/binder';
import { type ExplainOptions } from '../query/explain-options';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { isObject } from '../../platform/json/plain-object';
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
  const advice = adviceOf(plan, clauses);
  return {
    query: [statement.text, ...values],
    plan,
    ...(parameters.length > 0 && { parameters }),
    ...(advice.length > 0 && { advice }),
  };
}

/**
 * Advice: an index for each table that the plan reads as a whole, and a note on clauses without an index.
 * @param plan the output of EXPLAIN, as text or as JSON
 */
export function adviceOf(plan: unknown, clauses: readonly SearchClause[]): readonly string[] {
  const paths = [...new Set(clauses.flatMap(dotPathsOf))];
  const scans = typeof plan === 'string' ? scansInText(plan) : scansInJson(plan);
  return [
    ...new Set(scans.map(indexFor)),
    ...(clauses.some(readsBodies) ? [READS_BODIES] : []),
    ...paths.map(
      (path) => `Each candidate is read for .${path}: a SearchParameter for it, or another beside it, has an index.`,
    ),
  ];
}

const READS_BODIES =
  'A parameter or modifier is answered from the stored text (:exact, :text, :identifier, :of-type, :i, :below, "system|", _text, _content, _ilike): each candidate is read. Search by a selective parameter beside it, such as patient or a code.';

interface WholeScan {
  readonly table: string;
  readonly filter: string;
}

function scansInText(plan: string): readonly WholeScan[] {
  const lines = plan.split('\n');
  return lines.flatMap((line, index) => {
    const table = /Seq Scan on (\w+)/.exec(line)?.[1];
    return table === undefined ? [] : [{ table, filter: /Filter: (.*)/.exec(lines[index + 1] ?? '')?.[1] ?? '' }];
  });
}

function scansInJson(plan: unknown): readonly WholeScan[] {
  if (Array.isArray(plan)) return plan.flatMap(scansInJson);
  if (!isObject(plan)) return [];
  const { 'Node Type': kind, 'Relation Name': table, Filter: filter = '' } = plan;
  const own = kind === 'Seq Scan' && typeof table === 'string' ? [{ table, filter: String(filter) }] : [];
  return [...own, ...scansInJson(plan.Plan), ...scansInJson(plan.Plans)];
}

function indexFor({ table, filter }: WholeScan): string {
  const compared = [...filter.matchAll(/\b(?:\w+\.)?([a-z_]+)\)? (?:[=<>~]|&&)/g)];
  const columns = [...new Set(compared.map(([, column]) => column))];
  const hint = columns.length === 0 ? '' : `: create index concurrently on ${table} (${columns.join(', ')})`;
  return `The whole of ${table} was read${hint}.`;
}

/** The paths of dot expressions, in FHIRPath notation. */
const dotPathsOf = (clause: SearchClause): readonly string[] =>
  clause.kind === 'path'
    ? [clause.path.replace(/^\$\.|\[\*\]$/g, '').replaceAll('"', '')]
    : nestedIn(clause).flatMap(dotPathsOf);

const readsBodies = (clause: SearchClause): boolean =>
  clause.kind === 'body' || clause.kind === 'words' || nestedIn(clause).some(readsBodies);
