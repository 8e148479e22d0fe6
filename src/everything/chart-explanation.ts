import { Injectable } from '@nestjs/common';
import { adviceOf } from '../resource/search/explain-advice';
import { type ExplainOptions } from '../resource/search/explain-options';
import { type ChartQuery, orderedRows } from './chart-plan';
import { LargeCharts } from './large-charts';

/** How the members of one type are found. */
export interface TypeExplanation {
  readonly type: string;
  /** SQL, then the values of `$1`, `$2` … */
  readonly query: readonly unknown[];
  /** What EXPLAIN says: text, or JSON where that was asked for. */
  readonly plan: unknown;
  readonly rows: number;
  readonly milliseconds: number;
  /** What would make it cheaper; absent when there is nothing to say. */
  readonly advice?: readonly string[];
}

/** Tells how a chart is read, type by type (`_explain`). */
@Injectable()
export class ChartExplanation {
  constructor(private readonly charts: LargeCharts) {}

  async of(query: ChartQuery, { sql, isJson }: ExplainOptions, seconds: number): Promise<readonly TypeExplanation[]> {
    const found: TypeExplanation[] = [];
    await this.charts.visit(query, { seconds }, async (snapshot, portion) => {
      const explained = orderedRows(portion, (text) => `explain (${sql}) ${text}`);
      const lines = await snapshot.run<{ 'QUERY PLAN': string }>(
        { ...explained.statement, name: '' },
        explained.values,
      );
      const counted = orderedRows(portion, (text) => `select count(*)::integer as rows from (${text}) r`);
      const startedAt = performance.now();
      const [{ rows } = { rows: 0 }] = await snapshot.run<{ rows: number }>(counted.statement, counted.values);
      const milliseconds = Math.round((performance.now() - startedAt) * 1000) / 1000;
      const asked = orderedRows(portion, (text) => text);
      const plan = isJson ? lines[0]?.['QUERY PLAN'] : lines.map((line) => line['QUERY PLAN']).join('\n');
      const advice = typeof plan === 'string' ? adviceOf(plan, []) : [];
      found.push({
        type: portion.label,
        query: [asked.statement.text, ...asked.values],
        plan,
        rows,
        milliseconds,
        ...(advice.length === 0 ? {} : { advice }),
      });
    });
    return found;
  }
}
