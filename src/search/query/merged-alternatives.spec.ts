import { describe, expect, it } from '@jest/globals';
import { Random } from '../../../tools/chart/random';
import { eitherOf } from './merged-alternatives';
import { type SearchClause } from './search-query';

const token = (...hashes: number[]): SearchClause => ({ kind: 'token', tokens: hashes.map((hash) => ({ hash })) });
const link = (parameterId: number, targetHash: number, patientHash?: number): SearchClause => ({
  kind: 'reference',
  links: [{ targetHash, parameterId }],
  ...(patientHash !== undefined && { patientHash }),
});
const all = (...clauses: SearchClause[]): SearchClause => ({ kind: 'all', clauses });
const any = (...clauses: SearchClause[]): SearchClause => ({ kind: 'any', clauses });
const not = (clause: SearchClause): SearchClause => ({ kind: 'not', clause });
const chain = (clause: SearchClause): SearchClause => ({ kind: 'chain', parameterIds: [7], type: 'Group', clause });
const between = (low: number, high: number): SearchClause => ({
  kind: 'number',
  parameterIds: [3],
  codeHash: 0,
  ranges: [{ low, high, isLowOpen: false, isHighOpen: false }],
});

describe('alternatives that differ only in values', () => {
  it('become one clause with all values', () => {
    expect(eitherOf([token(1), token(2), token(3)])).toEqual(token(1, 2, 3));
    expect(eitherOf([chain(token(1)), chain(token(2))])).toEqual(chain(token(1, 2)));
    expect(eitherOf([all(token(1), link(7, 1)), all(token(1), link(7, 2))])).toEqual(
      all(token(1), eitherOf([link(7, 1), link(7, 2)])),
    );
  });

  it('omit the patient hash', () => {
    expect(eitherOf([link(7, 1, 1), link(7, 2, 2)])).toEqual({
      kind: 'reference',
      links: [
        { targetHash: 1, parameterId: 7 },
        { targetHash: 2, parameterId: 7 },
      ],
    });
  });

  it('stay separate if they are negated, or if they test different things', () => {
    for (const apart of [
      [not(token(1)), not(token(2))],
      [token(1), link(7, 1)],
      [all(token(1), link(7, 1)), all(token(2), link(7, 2))],
      [not(between(1, Infinity)), not(between(-Infinity, 1))],
    ] as SearchClause[][])
      expect(eitherOf(apart)).toEqual(any(...apart));
  });

  it('are merged if they are equal', () => {
    expect(eitherOf([not(token(1)), not(token(1))])).toEqual(not(token(1)));
    expect(eitherOf([])).toEqual(any());
  });
});

/** A row with the tokens, and with the tokens of the resources to which its links lead. */
interface Row {
  readonly tokens: readonly number[];
  readonly linked: readonly (readonly number[])[];
}

function holds(clause: SearchClause, row: Row): boolean {
  switch (clause.kind) {
    case 'token':
      return clause.tokens.some(({ hash }) => row.tokens.includes(hash));
    case 'all':
      return clause.clauses.every((one) => holds(one, row));
    case 'any':
      return clause.clauses.some((one) => holds(one, row));
    case 'not':
      return !holds(clause.clause, row);
    case 'chain':
      return row.linked.some((tokens) => holds(clause.clause, { tokens, linked: row.linked }));
    default:
      throw new Error(`no ${clause.kind} is drawn`);
  }
}

it('merged alternatives match the same rows as separate ones', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const some = (): number[] => Array.from({ length: random.integer(0, 3) }, () => random.integer(1, 4));
    const draw = (depth: number): SearchClause => {
      const inner = (): SearchClause => draw(depth - 1);
      if (depth === 0) return token(random.integer(1, 4), ...some());
      return random.pick([
        inner,
        () => not(inner()),
        () => chain(inner()),
        () => all(inner(), inner()),
        () => any(inner(), inner()),
      ])();
    };
    const alternatives = Array.from({ length: random.integer(1, 6) }, () => draw(2));
    const merged = eitherOf(alternatives);
    for (let row = 0; row < 40; row++) {
      const drawn = { tokens: some(), linked: Array.from({ length: random.integer(0, 2) }, some) };
      expect([seed, drawn, holds(merged, drawn)]).toEqual([seed, drawn, holds(any(...alternatives), drawn)]);
    }
  }
});
