import { describe, expect, it } from '@jest/globals';
import { parameterDigest } from '../extract/parameter-digest';
import { type OwnSearchParameter } from '../extract/search-parameter';
import { SearchParameterSet } from '../extract/search-parameter-set';
import { type ComparedState, compareStates } from './compare-states';

const own = (code: string, expression = code): OwnSearchParameter => ({
  type: 'Thing',
  code,
  kind: 'token',
  expression,
});
/** The parameters of one type, since compiling those of all types takes a fifth of a second for each set. */
class ThingParameters extends SearchParameterSet {
  override types(): readonly string[] {
    return ['Thing'];
  }
}
const setOf = (...parameters: OwnSearchParameter[]): SearchParameterSet => new ThingParameters(parameters);

const stateOf = (code: string, members: Partial<ComparedState> = {}): ComparedState => ({
  parameter_key: 1,
  definition_id: null,
  resource_type: 'Thing',
  code,
  kind: null,
  expression: null,
  targets: null,
  components: null,
  state: 'active',
  done_count: 0,
  total_count: 0,
  started_at: null,
  finished_at: null,
  presence_bit: null,
  digest: null,
  ...members,
});

/** The states after a first start has built the indexes of all parameters. */
const statesOf = (set: SearchParameterSet): ComparedState[] =>
  compareStates(set, []).built.map(({ type, code, digest, bit = null }, index) =>
    stateOf(code, { resource_type: type, digest, presence_bit: bit, parameter_key: index }),
  );

const bitsOf = (set: SearchParameterSet, stored: readonly ComparedState[]): object =>
  Object.fromEntries(compareStates(set, stored).built.map(({ code, bit }) => [code, bit]));

describe(compareStates, () => {
  it('H1: builds all parameters on the first start, with bits in the order of declaration, as in 0.1.0', () => {
    const set = new SearchParameterSet([own('a'), own('b')]);
    const { built, removed } = compareStates(set, []);
    expect(removed).toEqual([]);
    for (const { type, code, bit } of built) {
      const mask = set.find(type, code)?.presenceMask ?? 0n;
      const isSingle = mask !== 0n && (mask & (mask - 1n)) === 0n;
      if (bit === undefined) expect([type, code, isSingle && type === 'Thing']).toEqual([type, code, false]);
      else expect([type, code, 1n << BigInt(bit)]).toEqual([type, code, mask]);
    }
    // Columns of the resource serve these parameters, so they have no rows.
    expect(built.filter(({ code }) => code === '_id' || code === '_lastUpdated')).toEqual([]);
  });

  it('H1: changes nothing for the same parameters in another order', () => {
    const stored = statesOf(setOf(own('a'), own('b')));
    expect(compareStates(setOf(own('b'), own('a')), stored)).toEqual({
      built: [],
      rebuilt: [],
      removed: [],
      takenOver: [],
    });
  });

  it('H1: keeps bits, and assigns a free bit to a new parameter, never the bit of one that is being removed', () => {
    const stored = statesOf(setOf(own('a'), own('b')));
    const bit = stored.find(({ code }) => code === 'b')?.presence_bit ?? NaN;
    expect(bitsOf(setOf(own('c'), own('b'), own('a')), stored)).toEqual({ c: bit + 1 });
    expect(bitsOf(setOf(own('b', 'other'), own('a')), stored)).toEqual({ b: bit });
    const { removed } = compareStates(setOf(own('a'), own('c')), stored);
    expect(removed.map(({ code }) => code)).toEqual(['b']);
    expect(bitsOf(setOf(own('a'), own('c')), stored)).toEqual({ c: bit + 1 });
  });

  it('H1: rebuilds a parameter that was being removed', () => {
    const stored = statesOf(setOf(own('a'))).map((state) =>
      state.code === 'a' ? { ...state, state: 'removing' as const } : state,
    );
    expect(compareStates(setOf(own('a')), stored).built.map(({ code }) => code)).toEqual(['a']);
  });

  it('H1: assigns no bit beyond 63', () => {
    const many = Array.from({ length: 70 }, (_one, index) => own(`c${index}`));
    const bits = compareStates(setOf(...many), []).built;
    expect(new Set(bits.map(({ bit }) => bit)).size).toBe(64); // the 63 bits, and undefined
  });

  it('H1: rebuilds a stored parameter whose digest changed, and drops it if HL7 or a module defines its code', () => {
    const set = setOf(own('a'));
    const stored = (code: string): ComparedState =>
      stateOf(code, {
        definition_id: 'mine',
        kind: 'token',
        expression: 'mine',
        targets: [],
        components: [],
        digest: 'old',
      });
    const states = [...statesOf(set), stored('mine')];
    const { rebuilt, removed } = compareStates(set, states);
    const withMine = set.withLive([own('mine')]);
    const mine = withMine.find('Thing', 'mine');
    expect(rebuilt).toEqual([{ state: states.at(-1), digest: mine && parameterDigest(mine, withMine) }]);
    expect(removed).toEqual([]);
    const unusable = { ...stored('gone'), resource_type: 'Gone' };
    expect(compareStates(set, [...states, unusable]).rebuilt.at(-1)).toEqual({ state: unusable, digest: '' });
    expect(compareStates(set, [{ ...unusable, digest: '' }]).rebuilt).toEqual([]);
    const taken = compareStates(set, [...states.filter(({ code }) => code !== 'a'), stored('a')]);
    expect([taken.takenOver.map(({ code }) => code), taken.built.map(({ code }) => code)]).toEqual([['a'], ['a']]);
  });
});
