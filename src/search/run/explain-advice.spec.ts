import { describe, expect, it } from '@jest/globals';
import { adviceOf } from './explain-advice';

describe(adviceOf.name, () => {
  it('proposes an index for a table with a sequential scan', () => {
    const plan = `Limit  (actual time=1.1..2.2 rows=3)
  ->  Seq Scan on search_date d  (actual time=0.1..2.0 rows=3)
        Filter: ((parameter_id = 7) AND (d.low >= $2))
        Rows Removed by Filter: 90`;
    expect(adviceOf(plan, [])).toEqual([
      'The whole of search_date was read: create index concurrently on search_date (parameter_id, low).',
    ]);
  });

  it('proposes the index once for a plan in JSON, however deep the scan is nested', () => {
    const scan = {
      'Node Type': 'Seq Scan',
      'Relation Name': 'search_date',
      Filter: '((parameter_id = 7) AND (low >= $2))',
    };
    const plan = [{ Plan: { 'Node Type': 'Limit', Plans: [{ 'Node Type': 'Append', Plans: [scan, scan] }] } }];
    expect(adviceOf(plan, [])).toEqual([
      'The whole of search_date was read: create index concurrently on search_date (parameter_id, low).',
    ]);
  });

  it('gives no advice for an index scan', () => {
    expect(adviceOf('Index Only Scan using search_token_idx on search_token c', [{ kind: 'id', ids: ['a'] }])).toEqual(
      [],
    );
  });

  it('warns if stored texts are read, however deep the clause is nested', () => {
    const body = { kind: 'body', paths: ['$.a'] } as const;
    const chain = { kind: 'chain', parameterIds: [1], type: 'Patient', clause: { kind: 'not', clause: body } } as const;
    expect(adviceOf('', [{ kind: 'any', clauses: [chain] }])).toEqual([
      expect.stringContaining('each candidate is read'),
    ]);
  });
});
