import { describe, expect, it } from '@jest/globals';
import { itemPathOf } from './composite-clause';
import { numberRangesOf } from './number-clause';

describe(itemPathOf.name, () => {
  const paths = { item: '$."variant"', second: ['@."start"'], third: ['@."end"', '@."stop"'] };

  it('tests both numbers on the same item, for each combination of paths and ranges', () => {
    expect(itemPathOf(paths, numberRangesOf('x', '5'), numberRangesOf('x', 'lt9'))).toBe(
      '$."variant" ? (((@."start" >= 4.5 && @."start" < 5.5)) && ((@."end" < 9) || (@."stop" < 9)))',
    );
    expect(itemPathOf(paths, numberRangesOf('x', 'ne-5'), numberRangesOf('x', 'ge1e9'))).toBe(
      '$."variant" ? (((@."start" < -5.5) || (@."start" >= -4.5)) && ((@."end" >= 1000000000) || (@."stop" >= 1000000000)))',
    );
  });
});
