import { describe, expect, it } from '@jest/globals';
import { CriteriaEvaluation } from './criteria-evaluation';
import { compileCriteria } from './topic-criteria';

const female = compileCriteria("gender = 'female'");
const single = compileCriteria('name.single().exists()');
const change = { current: '{"resourceType":"Patient","gender":"female","name":[{"family":"a"},{"family":"b"}]}' };

describe(CriteriaEvaluation, () => {
  it('decides what can be decided, and leaves the rest open', () => {
    const evaluation = new CriteriaEvaluation({ now: () => new Date(0) });
    expect(evaluation.decide([female, single, female], change)).toEqual([true, undefined, true]);
    expect(evaluation.decide([], change)).toEqual([]);
  });

  it('ends a criterion that takes too long, decides the others, and does not ask it again for ten seconds', () => {
    let now = 0;
    const evaluation = new CriteriaEvaluation({ now: () => new Date(now) });
    let asked = 0;
    const slow = (): boolean => {
      asked += 1;
      return /^(a+)+$/.test(`${'a'.repeat(60)}!`);
    };
    expect(evaluation.decide([slow, female], change)).toEqual([undefined, true]);
    now = 9_999;
    expect(evaluation.decide([slow, female], change)).toEqual([undefined, true]);
    expect(asked).toBe(1);
    now = 10_000;
    evaluation.decide([slow], change);
    expect(asked).toBe(2);
  });
});
