import { describe, expect, it } from '@jest/globals';
import { clausesOf } from './criteria-clauses';

describe(clausesOf.name, () => {
  it.each([
    ["gender = 'male'", ["gender = 'male'"]],
    ['a = 1 and b = 2\n and c.exists()', ['a = 1', 'b = 2', 'c.exists()']],
    ['(a and b) and c.where(d and e).exists()', ['(a and b)', 'c.where(d and e).exists()']],
    ["a = 'x and y' and `and`", ["a = 'x and y'", '`and`']],
    ["a = 'it\\'s and' and b", ["a = 'it\\'s and'", 'b']],
    ['a and b or c and d', ['a and b or c and d']],
    ['(a or b) and c', ['(a or b)', 'c']],
    ['a implies b and c', ['a implies b and c']],
    ['a /* and */ and b // and c', ['a /* and */', 'b // and c']],
    ['brand and android', ['brand', 'android']],
  ])('splits %s', (expression, clauses) => {
    expect(clausesOf(expression)).toEqual(clauses);
  });
});
