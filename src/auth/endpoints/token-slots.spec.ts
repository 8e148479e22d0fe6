import { beforeEach, describe, expect, it } from '@jest/globals';
import { addressPrefixOf } from '../../platform/admission/address-prefix';
import { type Environment } from '../../platform/config/environment';
import { type RequestContext } from '../../platform/request/request-context';
import { type Grant } from '../grants/grant';
import { SlowAddresses } from '../guessing/slow-addresses';
import { HashSlots } from '../hashing/hash-slots';
import { type TokenRequest } from '../oauth/token-request';
import { TokenSlots } from './token-slots';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const LOGIN = { costsHash: true } as Grant;
const REFRESH = {} as Grant;

/** The IP address that a letter stands for in these specs. */
const addressOf = (letter: string): string => `192.0.2.${letter.charCodeAt(0)}`;

describe(TokenSlots, () => {
  const environment = { passwordHashSlots: 2, passwordHashQueue: 100 } as Environment;
  let slots: TokenSlots;
  let logins: HashSlots;
  let slowAddresses: SlowAddresses;
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  /** The request context, which the specs change for each request. */
  const context = { ticket: { caller: '', signal: new AbortController().signal } };

  beforeEach(() => {
    began.length = 0;
    ends.clear();
    logins = new HashSlots(environment);
    slowAddresses = new SlowAddresses(environment);
    slots = new TokenSlots(logins, slowAddresses, context as unknown as RequestContext);
  });

  /**
   * Starts a token request with a name of the form `address:username`, whose address may be a letter. It
   * runs until `end` is called with this name.
   */
  const arrive = (name: string, grant = LOGIN, signal = new AbortController().signal): Promise<void> => {
    const [, address = '', username] = /^(.*):(.*)$/.exec(name) ?? [];
    const ip = address.length === 1 ? addressOf(address) : address;
    Object.assign(context, { ticket: { caller: addressPrefixOf(ip), signal } });
    const arrival = slots.run(grant, { parameter: () => username } as unknown as TokenRequest, async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
    // Most requests stay in the queue until the longest wait ends them, so their errors are ignored here.
    arrival.catch(() => undefined);
    return arrival;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await settled();
  };

  it('runs one login per hash thread, and shares the threads fairly between addresses', async () => {
    for (const name of ['a:1', 'a:2', 'a:3', 'a:4', 'b:1']) void arrive(name);
    await settled();
    expect(began).toEqual(['a:1', 'a:2']);
    await end('a:1');
    await end('a:2');
    expect(began.slice(2)).toEqual(['a:3', 'b:1']);
  });

  it('treats an IPv6 /64 prefix as one address', async () => {
    for (const host of ['1', '2', '3', '4']) void arrive(`2001:db8::${host}:nurse`);
    void arrive('b:1');
    await settled();
    await end('2001:db8::1:nurse');
    await end('2001:db8::2:nurse');
    expect(began.slice(2)).toEqual(['2001:db8::3:nurse', 'b:1']);
  });

  it('never queues a refresh request behind logins', async () => {
    for (const name of ['a:1', 'a:2', 'a:3']) void arrive(name);
    for (const name of ['a:r1', 'a:r2', 'a:r3', 'a:r4', 'a:r5']) void arrive(name, REFRESH);
    await settled();
    expect(began).toEqual(['a:1', 'a:2', 'a:r1', 'a:r2', 'a:r3', 'a:r4']);
  });

  it('S7: runs one login of a slow address at a time, and alternates between its login names', async () => {
    slowAddresses.note(addressOf('a'), 60);
    for (const name of ['a:guessed', 'a:guessed', 'a:guessed', 'a:nurse']) void arrive(name);
    void arrive('b:1');
    await settled();
    expect([...began].sort()).toEqual(['a:guessed', 'b:1']);
    await end('a:guessed');
    await end('a:guessed');
    expect(began.slice(2)).toEqual(['a:guessed', 'a:nurse']);
    slowAddresses.note(addressOf('a'), null);
    await end('b:1');
    void arrive('a:free');
    await settled();
    expect(began.slice(4)).toEqual(['a:free']);
  });

  it('removes the request of a disconnected client, also from the queue of a slow address', async () => {
    slowAddresses.note(addressOf('s'), 60);
    const leaver = new AbortController();
    void arrive('s:0');
    void arrive('a:1');
    await settled();
    const left = [arrive('a:2', LOGIN, leaver.signal), arrive('s:1', LOGIN, leaver.signal)];
    leaver.abort(new Error('left'));
    expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(logins.waiting).toBe(0);
    await end('s:0');
    await end('a:1');
    expect([[...began].sort(), logins.inUse]).toEqual([['a:1', 's:0'], 0]);
  });

  it('releases the slot after a failure', async () => {
    Object.assign(context, { ticket: { caller: '', signal: new AbortController().signal } });
    const fail = (): Promise<never> => Promise.reject(new Error('wrong'));
    for (let n = 0; n < 5; n++)
      await expect(slots.run(LOGIN, { parameter: () => 'x' } as unknown as TokenRequest, fail)).rejects.toThrow(
        'wrong',
      );
    expect(logins.inUse).toBe(0);
  });
});
