import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { basicCredentialsOf } from './basic-credentials';

const header = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe(basicCredentialsOf, () => {
  it.each<[string, string, readonly string[]]>([
    ['client:secret', 'client', ['secret']],
    ['client:', 'client', []],
    ['client:a:b', 'client', ['a:b']],
    ['client:a+b', 'client', ['a+b', 'a b']],
    ['client:a%2Bb', 'client', ['a%2Bb', 'a+b']],
    ['client:100%', 'client', ['100%']],
    ['my%2Eclient:ü', 'my.client', ['ü']],
  ])('reads %s', (text, id, secrets) => {
    expect(basicCredentialsOf(header(text))).toEqual({ id, secrets });
  });

  it.each(['', 'Basic', 'Basic ', 'Basic @', 'Bearer eDp5', 'BasiceDp5', 'Basic eDp5 eDp5', 'Basic eDp5, Bearer x'])(
    'reads nothing from "%s"',
    (authorization) => {
      expect(basicCredentialsOf(authorization)).toBeUndefined();
    },
  );

  it.each(['client', ':secret', 'client\0:secret', 'client:\0', 'client%00:secret', 'client:a%00'])(
    'reads nothing from the encoded text %j',
    (text) => {
      expect(basicCredentialsOf(header(text))).toBeUndefined();
    },
  );

  it('finds every secret, sent as is or form-encoded (RFC 6749, section 2.3.1)', () => {
    const secretText = fc.string({ unit: 'grapheme', minLength: 1 }).filter((secret) => !/\0|%00/.test(secret));
    fc.assert(
      fc.property(secretText, (secret) => {
        const encoded = new URLSearchParams([[secret, '']]).toString().slice(0, -1);
        for (const sent of [secret, encoded]) {
          expect(basicCredentialsOf(header(`client:${sent}`))?.secrets).toContain(secret);
        }
      }),
    );
  });
});
