import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { quietTurn } from './quiet-turn';
import { TurnPace } from './turn-pace';

describe(TurnPace, () => {
  it('S10: starts the given number of tasks at once and in each later iteration of the event loop, in rotation between callers', async () => {
    await quietTurn();
    const pace = new TurnPace(2);
    const begun: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1']) {
      const turn = pace.turnFor(() => ({ caller: name.charAt(0) }));
      if (turn === undefined) begun.push(name);
      else void turn.then(() => begun.push(name));
    }
    expect(begun).toEqual(['a1', 'a2']);
    const counts: number[] = [];
    while (begun.length < 7) {
      await nextTurn();
      counts.push(begun.length);
    }
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'a6']);
    expect(Math.max(...counts.map((count, index) => count - (counts[index - 1] ?? 2)))).toBe(2);
  });

  it('removes a task from the queue if its client disconnects', async () => {
    const pace = new TurnPace(1);
    const client = new AbortController();
    const turns = [1, 2, 3].map(() => pace.turnFor(() => ({ caller: 'a', signal: client.signal })));
    client.abort(new Error('gone'));
    await expect(turns[2]).rejects.toThrow('gone');
  });
});
