import { describe, expect, it } from '@jest/globals';
import { RefusalBudget } from './refusal-budget';

describe(RefusalBudget, () => {
  const minute = (number: number): Date => new Date(number * 60_000);

  it('grants 60 records per minute and address, and marks the last one', () => {
    const budget = new RefusalBudget();
    const taken = Array.from({ length: 70 }, () => budget.take('192.0.2.1', minute(1)));
    expect(taken.filter(({ isGranted }) => isGranted)).toHaveLength(60);
    expect(taken.findIndex(({ isLast }) => isLast)).toBe(59);
    expect(budget.take('192.0.2.2', minute(1)).isGranted).toBe(true);
    expect(budget.take('192.0.2.1', minute(2)).isGranted).toBe(true);
  });

  it('tracks at most ten thousand addresses', () => {
    const budget = new RefusalBudget();
    for (let index = 0; index < 10_000; index++) budget.take(`a${index}`, minute(1));
    expect(budget.take('one more', minute(1)).isGranted).toBe(false);
    expect(budget.take('a5', minute(1)).isGranted).toBe(true);
  });
});
