import { describe, expect, it } from '@jest/globals';
import { signingKeyOf, webhookSignature } from './webhook-signature';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe(webhookSignature.name, () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  };

  it('equals the example of the Standard Webhooks specification', () => {
    expect(webhookSignature([SECRET], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('contains one signature per secret, in order', () => {
    const other = Buffer.alloc(32, 7).toString('base64');
    const both = webhookSignature([other, SECRET], message).split(' ');
    expect(both).toEqual([webhookSignature([other], message), webhookSignature([SECRET], message)]);
  });
});

describe(signingKeyOf.name, () => {
  it('reads base64 with and without its prefix', () => {
    expect(signingKeyOf(SECRET)).toEqual(signingKeyOf(SECRET.slice('whsec_'.length)));
  });

  it.each([
    ['24 bytes', Buffer.alloc(24, 1).toString('base64'), 24],
    ['64 bytes', Buffer.alloc(64, 1).toString('base64'), 64],
    ['no padding', Buffer.alloc(32, 1).toString('base64').replace('=', ''), 32],
  ])('reads %s', (_what, secret, length) => {
    expect(signingKeyOf(secret)?.length).toBe(length);
  });

  it.each([
    ['23 bytes', Buffer.alloc(23, 1).toString('base64')],
    ['65 bytes', Buffer.alloc(65, 1).toString('base64')],
    ['words', 'a secret that everybody can remember'],
    ['a cut text', Buffer.alloc(32, 255).toString('base64').slice(0, -3)],
    ['nothing', ''],
    ['the prefix alone', 'whsec_'],
    ['base64url', Buffer.alloc(32, 251).toString('base64url')],
  ])('refuses %s', (_what, secret) => {
    expect(signingKeyOf(secret)).toBeUndefined();
  });
});
