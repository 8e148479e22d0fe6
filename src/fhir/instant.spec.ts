import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dateSpanOf, earliestInstant, latestInstant, periodRangeOf } from './instant';

const printInstant = (epochMilliseconds: number): string => new Date(epochMilliseconds).toISOString();

function printed(range: { low: number; high: number } | undefined): string[] | undefined {
  return range && [printInstant(range.low), printInstant(range.high)];
}

describe(dateSpanOf.name, () => {
  it.each([
    ['2023', '2023-01-01T00:00:00.000Z', '2023-12-31T23:59:59.999Z'],
    ['0001', '0001-01-01T00:00:00.000Z', '0001-12-31T23:59:59.999Z'],
    ['9999', '9999-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    ['2024-02', '2024-02-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
    ['2023-12', '2023-12-01T00:00:00.000Z', '2023-12-31T23:59:59.999Z'],
    ['0099-03-04', '0099-03-04T00:00:00.000Z', '0099-03-04T23:59:59.999Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z', '2000-02-29T23:59:59.999Z'],
    ['2023-02-05T10:20', '2023-02-05T10:20:00.000Z', '2023-02-05T10:20:59.999Z'],
    ['2023-02-05T10:20:30', '2023-02-05T10:20:30.000Z', '2023-02-05T10:20:30.999Z'],
    ['2023-02-05T10:20:30Z', '2023-02-05T10:20:30.000Z', '2023-02-05T10:20:30.999Z'],
    ['2023-02-05T10:20:30+01:30', '2023-02-05T08:50:30.000Z', '2023-02-05T08:50:30.999Z'],
    ['2023-02-05T22:20:30-14:00', '2023-02-06T12:20:30.000Z', '2023-02-06T12:20:30.999Z'],
    ['2023-02-05T10:20:30.5Z', '2023-02-05T10:20:30.500Z', '2023-02-05T10:20:30.599Z'],
    ['2023-02-05T10:20:30.05Z', '2023-02-05T10:20:30.050Z', '2023-02-05T10:20:30.059Z'],
    ['2023-02-05T10:20:30.123Z', '2023-02-05T10:20:30.123Z', '2023-02-05T10:20:30.123Z'],
    ['2023-02-05T10:20:30.1239999Z', '2023-02-05T10:20:30.123Z', '2023-02-05T10:20:30.123Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z', '2017-01-01T00:00:00.999Z'],
  ])('%s covers %s to %s', (text, low, high) => {
    expect(printed(dateSpanOf(text))).toEqual([low, high]);
  });

  it.each([
    '',
    '0000',
    '0000-01-01',
    '23',
    '2023-1',
    '2023-00',
    '2023-13',
    '2023-02-00',
    '2023-02-29',
    '2023-02-30',
    '1900-02-29',
    '2023-04-31',
    '2023-02-05T',
    '2023-02-05T10',
    '2023-02-05T24:00:00Z',
    '2023-02-05T10:60:00Z',
    '2023-02-05T10:20:61Z',
    '2023-02-05T10:20:30.Z',
    '2023-02-05T10:20:30+14:30',
    '2023-02-05T10:20:30+1:00',
    '2023-02-05T10:20:30z',
    '2023-02-05 10:20:30Z',
    '2023-02-05Z',
    ' 2023',
    '2023\n',
    '+2023',
    '12023-01-01',
    '٢٠٢٣',
  ])('refuses %j', (text) => {
    expect(dateSpanOf(text)).toBeUndefined();
  });

  it('returns the precision and whether the text has a time zone', () => {
    const found = [
      '2023',
      '2023-02',
      '2023-02-05',
      '2023-02-05T10:20',
      '2023-02-05T10:20:30Z',
      '2023-02-05T10:20:30.1-01:00',
    ].map((text) => [dateSpanOf(text)?.precision, dateSpanOf(text)?.hasZone]);
    expect(found).toEqual([
      ['year', false],
      ['month', false],
      ['day', false],
      ['minute', false],
      ['second', true],
      ['fraction', true],
    ]);
  });

  it('clamps instants that a time zone moves out of the years 0001 to 9999', () => {
    expect(dateSpanOf('0001-01-01T00:00:00+14:00')).toMatchObject({ low: earliestInstant, high: earliestInstant });
    expect(dateSpanOf('9999-12-31T23:00:00-14:00')).toMatchObject({ low: latestInstant, high: latestInstant });
  });

  it('reads back every printed instant', () => {
    fc.assert(
      fc.property(fc.integer({ min: earliestInstant, max: latestInstant }), (moment) => {
        expect(dateSpanOf(printInstant(moment))).toEqual({
          low: moment,
          high: moment,
          precision: 'fraction',
          hasZone: true,
        });
      }),
    );
  });

  it('agrees with the calendar of Date on every day of any year', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 9999 }), fc.nat(13), fc.nat(32), (year, month, day) => {
        const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join(
          '-',
        );
        const date = new Date(Date.UTC(year, month - 1, day));
        const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        expect(dateSpanOf(text)?.low).toBe(isReal ? date.getTime() : undefined);
      }),
    );
  });
});

describe(periodRangeOf.name, () => {
  it('extends from the low end of start to the high end of end', () => {
    expect(printed(periodRangeOf({ start: '2023-02', end: '2023-03' }))).toEqual([
      '2023-02-01T00:00:00.000Z',
      '2023-03-31T23:59:59.999Z',
    ]);
  });

  it('extends to the limits if start or end is missing', () => {
    expect(periodRangeOf({ start: '1970' })).toEqual({ low: 0, high: latestInstant });
    expect(periodRangeOf({ end: '1969' })).toEqual({ low: earliestInstant, high: -1 });
  });

  it('covers the time between start and end if they are swapped', () => {
    expect(printed(periodRangeOf({ start: '2023-03', end: '2023-02' }))).toEqual([
      '2023-02-01T00:00:00.000Z',
      '2023-03-31T23:59:59.999Z',
    ]);
  });

  it('returns undefined without start and end, or with an invalid one', () => {
    expect([{}, { start: 'soon' }, { start: '2023', end: 5 }, { start: null }].map(periodRangeOf)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
