import { describe, expect, it } from '@jest/globals';
import { judgeAnswer, type Question } from './judge-answer';
import { type Body, WrittenResources } from './written-resources';

const body = (id: string, status: string): Body => ({ resourceType: 'Observation', id, status });
const stored = (id: string, status: string): object => ({ ...body(id, status), meta: { versionId: '1' } });
const WARNING = { resourceType: 'OperationOutcome' };
const searchset = (...resources: object[]): string =>
  JSON.stringify({
    total: resources.filter((one) => one !== WARNING).length,
    entry: resources.map((resource) => ({ resource })),
  });
const FINAL: Question = { path: '', kind: 'search', key: 'final', matches: ({ status }) => status === 'final' };
const READ: Question = { path: '', kind: 'read', key: 'a', matches: () => true };

/** Two resources: `a` is final, and `b` becomes final at some moment from 10 to 20. */
function twoResources(): WrittenResources {
  const written = new WrittenResources(({ status }) => [String(status)]);
  written.put(body('a', 'final'));
  written.put(body('b', 'draft'));
  written.write(body('b', 'final'), 10)(20);
  return written;
}

describe(judgeAnswer, () => {
  it.each([
    ['all before the write', [0, 5], ['a'], 'right'],
    ['what comes too early', [0, 5], ['a', 'b'], { fault: 'b is no match' }],
    ['the old state during the write', [0, 15], ['a'], 'right'],
    ['the new state during the write', [12, 15], ['a', 'b'], 'right'],
    ['the old state of a request that began before its end', [19, 30], ['a'], 'right'],
    ['the old state after the write', [21, 30], ['a'], { fault: 'b is missing' }],
    ['nothing', [0, 5], [], { fault: 'a is missing' }],
    ['one twice', [0, 5], ['a', 'a'], { fault: 'a resource twice' }],
  ] as const)('judges a search: %s', (_what, [from, to], ids, verdict) => {
    const text = searchset(...ids.map((id) => stored(id, 'final')));
    expect(judgeAnswer(twoResources(), FINAL, { from, to }, { status: 200, text })).toEqual(verdict);
  });

  it('allows a refusal, and a warning when matches are missing', () => {
    const period = { from: 0, to: 5 };
    expect(judgeAnswer(twoResources(), FINAL, period, { status: 503, text: '' })).toBe('refused');
    expect(judgeAnswer(twoResources(), FINAL, period, { status: 200, text: searchset(WARNING) })).toBe('warned');
  });

  it('allows no hidden resource, not even with a warning', () => {
    const limited: Question = { ...FINAL, mayBeSeen: ({ id }) => id !== 'a' };
    const text = searchset(WARNING, stored('a', 'final'));
    expect(judgeAnswer(twoResources(), limited, { from: 0, to: 5 }, { status: 200, text })).toEqual({
      fault: 'a is no match',
    });
  });

  it('treats a write without a response as possibly stored, until the next one', () => {
    const written = twoResources();
    written.write(body('a', 'draft'), 30);
    const period = { from: 40, to: 45 };
    for (const ids of [['a', 'b'], ['b']])
      expect(
        judgeAnswer(written, FINAL, period, { status: 200, text: searchset(...ids.map((id) => stored(id, 'final'))) }),
      ).toBe('right');
    written.write(body('a', 'final'), 50)(60);
    expect(
      judgeAnswer(written, FINAL, { from: 61, to: 62 }, { status: 200, text: searchset(stored('b', 'final')) }),
    ).toEqual({ fault: 'a is missing' });
  });

  it('judges totals and reads', () => {
    const total = (count: number): string => JSON.stringify({ total: count });
    const count: Question = { ...FINAL, kind: 'count' };
    expect(judgeAnswer(twoResources(), count, { from: 12, to: 15 }, { status: 200, text: total(2) })).toBe('right');
    expect(judgeAnswer(twoResources(), count, { from: 21, to: 25 }, { status: 200, text: total(1) })).toHaveProperty(
      'fault',
    );
    const read = (status: number, text: string): unknown =>
      judgeAnswer(twoResources(), READ, { from: 0, to: 5 }, { status, text });
    expect(read(200, JSON.stringify(stored('a', 'final')))).toBe('right');
    expect(read(200, JSON.stringify(stored('a', 'draft')))).toHaveProperty('fault');
    expect(read(404, '')).toHaveProperty('fault');
  });
});
