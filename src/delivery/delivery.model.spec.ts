import { describe, expect, it } from '@jest/globals';
import { deliveryModel } from '../../test/support/model/delivery-model';
import { type Variant } from '../../test/support/model/delivery-state';
import { explore, textOf } from '../../test/support/model/explore';

describe('Queue, lease and settling', () => {
  it('D1: lose nothing, keep order and numbers, and count each event once, in any interleaving', () => {
    const { states, path } = explore(deliveryModel('none'));
    expect(path).toBeUndefined();
    expect(states).toBeGreaterThan(10_000);
  });

  it.each<readonly [Variant, RegExp]>([
    ['events are claimed by a cursor instead of their state', /is never claimed$/],
    ['the latest event is claimed first', /A1 arrives for the first time after A2$/],
    ['workers take no lease', /two workers hold one destination$/],
    [
      'settling ignores the epoch of the lease',
      /the lease of worker \d ends\n(.*\n)*two workers hold one destination$/,
    ],
    ['a batch is settled before it is sent', /dies\n.* is counted and never sent$/],
    ['a delivered batch is counted and not removed', /1 delivered, 1 in process and 0 queued, of 1 committed$/],
    ['a refused batch is skipped', /is counted and never sent$/],
  ])('D1: the model finds the defect "%s"', (variant, broken) => {
    expect(textOf(explore(deliveryModel(variant)))).toMatch(broken);
  });
});
