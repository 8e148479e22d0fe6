import { describe, expect, it } from '@jest/globals';
import { type DateBox, type DateClause } from '../query/search-query';
import { reachOf, withJoinedDates } from './date-bounds';

const date = (box: DateBox, isSingle = true, parameterId = 1): DateClause => ({
  kind: 'date',
  parameterIds: [parameterId],
  boxes: [box],
  isSingle,
  isMainDate: false,
});

describe('dates of a search', () => {
  it('become one clause if both test the same row', () => {
    expect(withJoinedDates([date({ highFrom: 10 }), date({ lowTo: 20 })])).toEqual([date({ highFrom: 10, lowTo: 20 })]);
    expect(withJoinedDates([date({ lowFrom: 5, highTo: 30 }), date({ lowFrom: 10, lowTo: 20 })])).toEqual([
      date({ lowFrom: 10, lowTo: 20, highTo: 30 }),
    ]);
  });

  it('stay separate if a resource may have several of them, or if their parameters differ', () => {
    const repeated = [date({ highFrom: 10 }, false), date({ lowTo: 20 }, false)];
    expect(withJoinedDates(repeated)).toEqual(repeated);
    const different = [date({ highFrom: 10 }), date({ lowTo: 20 }, true, 2)];
    expect(withJoinedDates(different)).toEqual(different);
  });

  it('range from the earliest to the latest alternative', () => {
    expect(
      reachOf([
        { highFrom: 10, lowTo: 20 },
        { lowFrom: 5, highTo: 8 },
      ]),
    ).toEqual({ from: 5, to: 20 });
    expect(reachOf([{ highFrom: 10 }, { lowTo: 8 }])).toEqual({ from: undefined, to: undefined });
  });

  it('have no upper bound if the range ends before it starts, since a long period may match both', () => {
    expect(reachOf([{ highFrom: 20, lowTo: 10 }])).toEqual({ from: 20, to: undefined });
  });
});
