import { Injectable } from '@nestjs/common';
import { adviceOf } from '../search/run/explain-advice';
import { type ExplainOptions } from '../search/query/explain-options';
import { type Snapshot } from '../platform/database/snapshots';
import { type CompartmentQuery } from './plan/compartment-query';
import { ordered, type QueryPart } from './plan/query-parts';
import { CompartmentReader } from './read/compartment-reader';

/** How the entries of one type are found. */
export interface TypeExplanation {
  readonly type: string;
  /** SQL, then the values of `$1`, `$2` … */
  readonly query: readonly unknown[];
  /** The output of EXPLAIN: text, or JSON where that was asked for. */
  readonly plan: unknown;
  readonly rows: number;
  readonly milliseconds: number;
  /** What would make it cheaper; absent when there is nothing to say. */
  readonly advice?: readonly string[];
}

/** Explains how a compartment is read, type by type (`_explain`). */
@Injectable()
export class CompartmentExplanation {
  constructor(private readonly reader: CompartmentReader) {}

  of(query: CompartmentQuery, options: ExplainOptions, seconds: number): Promise<readonly TypeExplanation[]> {
    return this.reader.within(query, { seconds }, async (snapshot, parts) => {
      const explained: TypeExplanation[] = [];
      for (const part of parts(query)) explained.push(await explanationOf(snapshot, part, options));
      return explained;
    });
  }
}

async function explanationOf(
  snapshot: Snapshot,
  part: QueryPart,
  { sql, isJson }: ExplainOptions,
): Promise<TypeExplanation> {
  const explain = ordered(part, (text) => `explain (${sql}) ${text}`);
  const lines = await snapshot.run<{ 'QUERY PLAN': string }>({ ...explain.statement, name: '' }, explain.values);
  const count = ordered(part, (text) => `select count(*)::integer as rows from (${text}) r`);
  const startedAt = performance.now();
  const [{ rows } = { rows: 0 }] = await snapshot.run<{ rows: number }>(count.statement, count.values);
  const milliseconds = Math.round((performance.now() - startedAt) * 1000) / 1000;
  const { statement, values } = ordered(part, (text) => text);
  const plan = isJson ? lines[0]?.['QUERY PLAN'] : lines.map((line) => line['QUERY PLAN']).join('\n');
  const advice = typeof plan === 'string' ? adviceOf(plan, []) : [];
  return {
    type: part.label,
    query: [statement.text, ...values],
    plan,
    rows,
    milliseconds,
    ...(advice.length === 0 ? {} : { advice }),
  };
}
