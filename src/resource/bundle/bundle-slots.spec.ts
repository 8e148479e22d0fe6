import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../platform/config/environment';
import { BundleSlots } from './bundle-slots';

const slots = (): BundleSlots => new BundleSlots(readEnvironment({ SVC_DATABASE_POOL_SIZE: '4' }));

describe(BundleSlots, () => {
  it('runs as many as half of the connections, the others in line, also behind one that fails', async () => {
    const bundles = slots();
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const all = Array.from({ length: 4 }, (_, n) =>
      bundles.run(async () => {
        started.push(n);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (n === 0) throw new Error('failed');
      }),
    );
    const settled = Promise.allSettled(all);
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    for (let n = 0; n < 4; n++) {
      ends[n]?.();
      await Promise.allSettled([all[n]]);
      await Promise.resolve();
    }
    expect(started).toEqual([0, 1, 2, 3]);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('refuses when too many wait', async () => {
    const bundles = slots();
    let end: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    const waiting = Array.from({ length: 2 + 64 }, () => bundles.run(() => held));
    await expect(bundles.run(() => held)).rejects.toMatchObject({ kind: 'busy', details: { retryAfterSeconds: 2 } });
    end();
    await Promise.all(waiting);
  });
});
