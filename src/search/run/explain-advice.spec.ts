import { describe, expect, it } from '@jest/globals';
import { adviceOf } from './explain-advice';

describe(adviceOf.name, () => {
  it('gives no advice for a clause with an index', () => {
    expect(adviceOf([{ kind: 'id', ids: ['a'] }])).toEqual([]);
  });

  it('warns if stored texts are read, however deep the clause is nested', () => {
    const body = { kind: 'body', paths: ['$.a'] } as const;
    const chain = { kind: 'chain', parameterIds: [1], type: 'Patient', clause: { kind: 'not', clause: body } } as const;
    expect(adviceOf([{ kind: 'any', clauses: [chain] }])).toEqual([expect.stringContaining('each candidate is read')]);
  });
});
