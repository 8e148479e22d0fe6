import { describe, expect, it } from '@jest/globals';
import { signatureHeaders, signingKeyOf } from './webhook-signature';

/** The example that the libraries of Standard Webhooks share. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOTIFICATION = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: Buffer.from('{"test": 2432232314}') };
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

describe(signatureHeaders.name, () => {
  it('agrees with the published example', () => {
    expect(signatureHeaders(NOTIFICATION, [SECRET], 1614265330)).toEqual({
      'webhook-id': NOTIFICATION.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': SIGNATURE,
    });
  });

  it('signs with both secrets while one replaces the other', () => {
    const other = Buffer.alloc(24, 7).toString('base64');
    const signed = signatureHeaders(NOTIFICATION, [other, SECRET], 1614265330)['webhook-signature'] ?? '';
    expect(signed.split(' ')).toEqual([expect.stringMatching(/^v1,/), SIGNATURE]);
    expect(signed.split(' ')[0]).not.toBe(SIGNATURE);
  });

  it('tells the id alone without a secret', () => {
    expect(signatureHeaders(NOTIFICATION, [], 1614265330)).toEqual({ 'webhook-id': NOTIFICATION.id });
  });
});

describe(signingKeyOf.name, () => {
  it.each([
    ['23 bytes', Buffer.alloc(23).toString('base64')],
    ['65 bytes', Buffer.alloc(65).toString('base64')],
    ['no base64', 'whsec_not a secret at all, but long enough'],
    ['nothing', ''],
    ['a mask', '***'],
  ])('takes no secret of %s', (_case, secret) => {
    expect(signingKeyOf(secret)).toBeUndefined();
  });

  it.each([24, 32, 64])('takes one of %d bytes', (size) => {
    expect(signingKeyOf(Buffer.alloc(size, 1).toString('base64'))).toHaveLength(size);
  });
});
