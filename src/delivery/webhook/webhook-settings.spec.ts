import { describe, expect, it } from '@jest/globals';
import { maskedParameter, webhookSettingsOf } from './webhook-settings';

const endpoint = { name: 'endpoint', valueUrl: 'https://hook.example/in?x=1' };
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
      secrets: [],
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

describe('secrets', () => {
  const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('base64'));
  const secret = (valueString: unknown): { name: string; valueString: unknown } => ({ name: 'secret', valueString });
  const secretsOf = (given: readonly unknown[], inForce?: readonly unknown[]): readonly string[] =>
    webhookSettingsOf(
      [endpoint, ...given.map(secret)],
      inForce === undefined ? undefined : webhookSettingsOf([endpoint, ...inForce.map(secret)], undefined),
    ).secrets;

  it('rotate: the new one first, a mask for the one it replaces, then the new one alone', () => {
    expect(secretsOf([second, '***'], [first])).toEqual([second, first]);
    expect(secretsOf(['***'], [second, first])).toEqual([second]);
    expect(secretsOf([], [first])).toEqual([]);
  });

  it.each<[string, unknown[], unknown[]]>([
    ['three', [first, second, first], []],
    ['a mask for nothing', ['***'], []],
    ['a number', [3], []],
    ['a word', ['geheim'], []],
  ])('are refused: %s', (_case, given, inForce) => {
    expect(() => secretsOf(given, inForce)).toThrow(/secret/);
  });
});

describe(maskedParameter.name, () => {
  it('shows nothing of a secret', () => {
    expect(maskedParameter({ name: 'secret', valueString: 'geheim' })).toEqual({ name: 'secret', valueString: '***' });
  });

  it('keeps the name of a header alone', () => {
    expect(maskedParameter(header('Authorization:Basic a:b'))).toEqual(header('Authorization: ***'));
  });

  it('leaves other parameters as they are', () => {
    expect(maskedParameter(endpoint)).toBe(endpoint);
  });
});
