import { describe, expect, it } from '@jest/globals';
import { type Exploration, explore, textOf } from '../../test/support/model/explore';
import { type SessionVariant, sessionModel } from '../../test/support/model/session-model';

const RIGHT: SessionVariant = {
  exchanges: 3,
  closeLocksFamily: true,
  exchangeHoldsKeys: true,
  tokensEnd: 'after the keys',
};

const explored = (change: Partial<SessionVariant>): Exploration => explore(sessionModel({ ...RIGHT, ...change }));

describe('Refreshes of a token beside the close of its Session and the withdrawal of keys', () => {
  it('leave no token alive that must end, and never deadlock, in any interleaving', () => {
    const { states, path } = explored({});
    expect(path).toBeUndefined();
    expect(states).toBeGreaterThan(500);
  });

  it.each<readonly [string, Partial<SessionVariant>, string]>([
    ['a close does not lock the family', { closeLocksFamily: false }, 'a Session of the family lives after its close'],
    ['an exchange does not hold the keys', { exchangeHoldsKeys: false }, 'a token of a withdrawn key lives'],
    ['tokens end with their keys', { tokensEnd: 'with the keys' }, 'the transactions wait for each other'],
  ])('the model finds the defect if %s', (_defect, change, broken) => {
    expect(textOf(explored(change))).toContain(broken);
  });
});
