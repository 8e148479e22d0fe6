import { describe, expect, it } from '@jest/globals';
import { maskedParameter, webhookSettingsOf } from './webhook-settings';

const endpoint = { name: 'endpoint', valueUrl: 'https://hook.example/in?x=1' };
const secret = (valueString: string): { name: string; valueString: string } => ({ name: 'secret', valueString });
const [NEW, OLD] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(24, 2).toString('base64')];
const header = (valueString: string): { name: string; valueString: string } => ({ name: 'header', valueString });

describe(webhookSettingsOf.name, () => {
  it('has the defaults of the interface', () => {
    expect(webhookSettingsOf([endpoint], undefined)).toEqual({
      endpoint: 'https://hook.example/in?x=1',
      timeoutSeconds: 30,
      keepAliveSeconds: 120,
      maxMessagesInBatch: 20,
      headers: [],
      secrets: [],
    });
  });

  it('reads every parameter', () => {
    const parameters = [
      endpoint,
      { name: 'timeout', valueUnsignedInt: 5 },
      { name: 'keepAlive', valueInteger: -1 },
      { name: 'maxMessagesInBatch', valueUnsignedInt: 7 },
      header('X-A: 1'),
      header('X-A: 2'),
      secret(NEW),
      secret(OLD),
    ];
    expect(webhookSettingsOf(parameters, undefined)).toEqual({
      endpoint: 'https://hook.example/in?x=1',
      timeoutSeconds: 5,
      keepAliveSeconds: 0,
      maxMessagesInBatch: 7,
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'X-A', value: '2' },
      ],
      secrets: [NEW, OLD],
    });
  });

  it('takes masked values from the settings in force, in their order and whatever the case of the name', () => {
    const inForce = webhookSettingsOf([endpoint, header('X-A: 1'), header('X-B: 2'), header('X-A: 3')], undefined);
    const parameters = [endpoint, header('x-a: ***'), header('X-A: ***'), header('X-B: new')];
    expect(webhookSettingsOf(parameters, inForce).headers).toEqual([
      { name: 'x-a', value: '1' },
      { name: 'X-A', value: '3' },
      { name: 'X-B', value: 'new' },
    ]);
  });

  it('refuses more masked values than there are', () => {
    const inForce = webhookSettingsOf([endpoint, header('X-A: 1')], undefined);
    expect(() => webhookSettingsOf([endpoint, header('X-A: ***'), header('X-A: ***')], inForce)).toThrow(
      'Send the value',
    );
  });
});

describe('the secrets of a webhook', () => {
  const secretsOf = (values: readonly string[], inForce: readonly string[]): readonly string[] =>
    webhookSettingsOf(
      [endpoint, ...values.map(secret)],
      webhookSettingsOf([endpoint, ...inForce.map(secret)], undefined),
    ).secrets;

  it('are rotated by a new one before a mask', () => {
    expect(secretsOf([NEW, '***'], [OLD])).toEqual([NEW, OLD]);
    expect(secretsOf(['***', '***'], [NEW, OLD])).toEqual([NEW, OLD]);
    expect(secretsOf(['***'], [NEW, OLD])).toEqual([NEW]);
    expect(secretsOf([], [NEW, OLD])).toEqual([]);
  });

  it.each([
    ['three', [NEW, NEW, OLD], 'at most 2 times'],
    ['a mask without a stored one', ['***'], 'Send the secret'],
    ['a word', ['geheim'], 'openssl rand'],
  ])('are refused: %s', (_what, values, message) => {
    expect(() => secretsOf(values, [])).toThrow(message);
  });
});

describe(maskedParameter.name, () => {
  it('keeps nothing of a secret', () => {
    expect(maskedParameter(secret(NEW))).toEqual(secret('***'));
  });

  it('keeps the name of a header alone', () => {
    expect(maskedParameter(header('Authorization:Basic a:b'))).toEqual(header('Authorization: ***'));
  });

  it('leaves other parameters as they are', () => {
    expect(maskedParameter(endpoint)).toBe(endpoint);
  });
});
