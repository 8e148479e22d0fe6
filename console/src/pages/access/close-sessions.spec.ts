import { describe, expect, it } from '@jest/globals';
import { closeAll, MOST_SESSIONS } from './close-sessions';

async function* ids(count: number): AsyncGenerator<string, void, void> {
  for (let index = 0; index < count; index++) yield await Promise.resolve(`s${index}`);
}
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
const never = new AbortController().signal;

describe(closeAll, () => {
  it('closes each Session once, at most four at a time, and reports the progress', async () => {
    const closed: string[] = [];
    const seen: number[] = [];
    let [inside, most] = [0, 0];
    const close = async (id: string): Promise<void> => {
      most = Math.max(most, ++inside);
      await later();
      inside--;
      closed.push(id);
    };
    const outcome = await closeAll(ids(30), close, ({ closed: done }) => seen.push(done), never);
    expect(outcome).toEqual({ closed: 30, failed: 0, total: 30, isMore: false });
    expect(new Set(closed).size).toBe(30);
    expect(most).toBeLessThanOrEqual(4);
    expect(seen).toEqual(Array.from({ length: 31 }, (_none, index) => index));
  });

  it('closes no more Sessions than the limit of one run, and returns isMore', async () => {
    let count = 0;
    const outcome = await closeAll(
      ids(MOST_SESSIONS * 3),
      () => Promise.resolve(count++),
      () => undefined,
      never,
    );
    expect([outcome.closed, outcome.isMore, count]).toEqual([MOST_SESSIONS, true, MOST_SESSIONS]);
  });

  it('continues after a failure, returns the first error, and stops when every call fails', async () => {
    const close = (id: string): Promise<void> =>
      id === 's1' || id === 's2' ? Promise.reject(new Error(`no ${id}`)) : later();
    expect(await closeAll(ids(10), close, () => undefined, never)).toMatchObject({
      ...{ closed: 8, failed: 2 },
      firstFault: new Error('no s1'),
    });
    const { failed, closed } = await closeAll(
      ids(500),
      () => Promise.reject(new Error('no')),
      () => undefined,
      never,
    );
    expect([closed, failed < 20]).toEqual([0, true]);
  });

  it('stops when the run is canceled', async () => {
    const cancel = new AbortController();
    const outcome = await closeAll(
      ids(100),
      later,
      ({ closed }) => {
        if (closed === 10) cancel.abort();
      },
      cancel.signal,
    );
    expect(outcome.closed).toBeGreaterThanOrEqual(10);
    expect(outcome.closed).toBeLessThan(20);
  });
});
