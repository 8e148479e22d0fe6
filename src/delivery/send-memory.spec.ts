import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { readEnvironment } from '../platform/config/environment';
import { type HeldBody, SendMemory, type Share } from './send-memory';

const MIB = 1024 * 1024;

function setUp(slots: number) {
  const memory = new SendMemory(
    readEnvironment({ SVC_DELIVERY_SLOTS: String(slots), SVC_DELIVERY_BUFFER_BYTES: String(2 * MIB) }),
  );
  const rendered: string[] = [];
  const render = (name: string, share: Share, control = new AbortController()): Promise<HeldBody> =>
    memory.render(share, control, () => {
      rendered.push(name);
      return Promise.resolve('x'.repeat(MIB));
    });
  return { memory, rendered, render };
}

describe(SendMemory.name, () => {
  it('D2: stops rendering above the budget, and for failed destinations above half of it', async () => {
    const { memory, rendered, render } = setUp(1);
    const first = await render('first', 'all');
    const failed = render('failed', 'half');
    const second = await render('second', 'all');
    const third = render('third', 'all');
    await turn();
    expect(rendered).toEqual(['first', 'second']);
    memory.release(first);
    memory.release(await third);
    await turn();
    expect(rendered).toEqual(['first', 'second', 'third']);
    memory.release(second);
    await failed;
    expect(rendered).toEqual(['first', 'second', 'third', 'failed']);
  });

  it('D2: aborts stalled senders only while other senders wait for memory: the slowest first, and no more than needed', async () => {
    const { memory, render } = setUp(4);
    const [slow, slowest] = [await render('slow', 'all'), await render('slowest', 'all')];
    slow.progressAt -= 11_000;
    slowest.progressAt -= 12_000;
    void memory.step();
    expect(slowest.control.signal.aborted).toBe(false);
    const waiting = render('waiting', 'all');
    await turn();
    void memory.step();
    expect(slowest.control.signal.reason).toMatchObject({
      message: 'The receiver took less than 64 kB in 10 s, and its memory was needed for others',
    });
    expect(slow.control.signal.aborted).toBe(false);
    await waiting;
  });

  it('D2: aborts as many senders as a failed destination needs', async () => {
    const { memory, render } = setUp(4);
    const stalled = [await render('one', 'all'), await render('other', 'all')];
    for (const body of stalled) body.progressAt -= 11_000;
    const waiting = render('failed', 'half');
    await turn();
    void memory.step();
    expect(stalled.map(({ control }) => control.signal.aborted)).toEqual([true, true]);
    await waiting;
  });

  it('D2: aborts no sender whose socket took 64 kB in the last 10 s, and an aborted attempt stops waiting', async () => {
    const { memory, rendered, render } = setUp(1);
    const bodies = [await render('one', 'all'), await render('other', 'all')];
    for (const body of bodies) body.progressAt -= 9_000;
    const control = new AbortController();
    const [waiting, queued] = [render('waiting', 'all', control), render('queued', 'all', control)];
    const ended = Promise.allSettled([waiting, queued]);
    await turn();
    void memory.step();
    control.abort();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(rendered).toEqual(['one', 'other']);
    expect(bodies.some((body) => body.control.signal.aborted)).toBe(false);
  });
});
