import { explanationOf, type SearchExplanation } from '../search/run/explain-advice';
import { type ExplainOptions } from '../search/query/explain-options';
import { type Snapshot } from '../platform/database/snapshots';
import { ordered, type QueryPart } from './plan/query-parts';

interface TypeExplanation extends SearchExplanation {
  readonly type: string;
  readonly rows: number;
  readonly milliseconds: number;
}

/** Explains how the parts of a compartment are read (`_explain`): for each the statement that finds its entries. */
export async function explanationsOf(
  snapshot: Snapshot,
  parts: Iterable<QueryPart>,
  options: ExplainOptions,
): Promise<readonly TypeExplanation[]> {
  const explained: TypeExplanation[] = [];
  for (const part of parts) explained.push(await explanationOfPart(snapshot, part, options));
  return explained;
}

async function explanationOfPart(
  snapshot: Snapshot,
  part: QueryPart,
  options: ExplainOptions,
): Promise<TypeExplanation> {
  const explain = ordered(part, (text) => `explain (${options.sql}) ${text}`);
  const lines = await snapshot.run<{ 'QUERY PLAN': string }>({ ...explain.statement, name: '' }, explain.values);
  const count = ordered(part, (text) => `select count(*)::integer as rows from (${text}) r`);
  const startedAt = performance.now();
  const [{ rows } = { rows: 0 }] = await snapshot.run<{ rows: number }>(count.statement, count.values);
  const milliseconds = Math.round((performance.now() - startedAt) * 1000) / 1000;
  const bound = ordered(part, (text) => text);
  const { query, plan, ...advice } = explanationOf(bound, lines, options);
  return { type: part.label, query, plan, rows, milliseconds, ...advice };
}
