import { expect, it } from '@jest/globals';
import { compilePage } from '../compile/compile-search';
import { type SearchClause } from '../query/search-query';
import { RowLimit } from './row-limit';

const FORMS: readonly (readonly [string, (n: number) => readonly SearchClause[]])[] = [
  ['a code', (n) => [{ kind: 'token', tokens: [{ hash: n }] }]],
  ['a reference', (n) => [{ kind: 'reference', links: [{ targetHash: n, parameterId: 7 }] }]],
  [
    'a chain',
    (n) => [
      { kind: 'chain', parameterIds: [7], type: 'Organization', clause: { kind: 'token', tokens: [{ hash: n }] } },
    ],
  ],
  [
    'two codes',
    (n) => [
      { kind: 'token', tokens: [{ hash: n }] },
      { kind: 'token', tokens: [{ hash: -1 }] },
    ],
  ],
];

it.each(FORMS)('500 criteria with %s each have the same statement as 50', (_name, form) => {
  const statementOf = (count: number): string => {
    const criteria = Array.from({ length: count }, (_, n) => ({ type: 'Patient', clauses: form(n) }));
    const clauses = [RowLimit.of(criteria).clauseOf('Patient')];
    return compilePage({ type: 'Patient', clauses, count: 20 }).statement.text;
  };
  expect(statementOf(500)).toBe(statementOf(50));
});
