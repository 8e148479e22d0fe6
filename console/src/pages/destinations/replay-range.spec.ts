import { describe, expect, it } from '@jest/globals';
import { isEmptyRange, rangeFault, rangeOf } from './replay-range';

const none = { kind: 'time', since: '', until: '', from: '', to: '' } as const;

describe(rangeOf.name, () => {
  it('converts the chosen range to UTC, up to the last millisecond of the chosen second', () => {
    const local = new Date('2026-01-31T10:00:00Z');
    const typed = new Date(local.getTime() - local.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    expect(rangeOf({ ...none, since: typed, until: typed, from: '3' })).toEqual({
      since: '2026-01-31T10:00:00.000Z',
      until: '2026-01-31T10:00:00.999Z',
    });
    expect(rangeOf({ ...none, kind: 'number', since: typed, from: '3' })).toEqual({ from: '3' });
    expect(isEmptyRange(rangeOf(none))).toBe(true);
  });
});

describe(rangeFault.name, () => {
  it.each([
    [{ kind: 'number', from: '5', to: '3' }, 'ends before'],
    [{ kind: 'number', from: 'x' }, 'whole'],
    [{ kind: 'number', from: '0' }, 'whole'],
    [{ kind: 'time', since: '2026-01-02T00:00', until: '2026-01-01T00:00' }, 'ends before'],
  ] as const)('returns a fault for %j', (change, fault) => {
    expect(rangeFault({ ...none, ...change })).toContain(fault);
  });

  it('returns no fault for a valid range', () => {
    expect(rangeFault({ ...none, kind: 'number', from: '3', to: '3' })).toBeUndefined();
  });
});
