import { describe, expect, it } from '@jest/globals';
import { maskedParameter, unmaskedParameters, webhookSettingsOf } from './webhook-settings';

const endpoint = { name: 'endpoint', valueUrl: 'https://hook.example/in?x=1' };
const secret = (valueString: string): { name: string; valueString: string } => ({ name: 'secret', valueString });
const [NEW, OLD] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(24, 2).toString('base64')];
const url = (valueUrl: string): { name: string; valueUrl: string } => ({ name: 'endpoint', valueUrl });
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

  it('takes masked values from the settings in force, in order, with case-insensitive names', () => {
    const inForce = webhookSettingsOf([endpoint, header('X-A: 1'), header('X-B: 2'), header('X-A: 3')], undefined);
    const parameters = [endpoint, header('x-a: ***'), header('X-A: ***'), header('X-B: new')];
    expect(webhookSettingsOf(parameters, inForce).headers).toEqual([
      { name: 'x-a', value: '1' },
      { name: 'X-A', value: '3' },
      { name: 'X-B', value: 'new' },
    ]);
  });

  it('refuses more masked values than are stored', () => {
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

  it('are rotated by a new secret before a mask', () => {
    expect(secretsOf([NEW, '***'], [OLD])).toEqual([NEW, OLD]);
    expect(secretsOf(['***', '***'], [NEW, OLD])).toEqual([NEW, OLD]);
    expect(secretsOf(['***'], [NEW, OLD])).toEqual([NEW]);
    expect(secretsOf([], [NEW, OLD])).toEqual([]);
  });

  it.each([
    ['three secrets', [NEW, NEW, OLD], 'at most 2 times'],
    ['a mask without a stored secret', ['***'], 'Send the secret'],
    ['a word', ['geheim'], 'openssl rand'],
  ])('are refused if they are %s', (_what, values, message) => {
    expect(() => secretsOf(values, [])).toThrow(message);
  });
});

describe(maskedParameter.name, () => {
  it('replaces a secret by the mask', () => {
    expect(maskedParameter(secret(NEW))).toEqual(secret('***'));
  });

  it('keeps only the name of a header', () => {
    expect(maskedParameter(header('Authorization:Basic a:b'))).toEqual(header('Authorization: ***'));
  });

  it('leaves other parameters unchanged', () => {
    for (const parameter of [{ name: 'timeout', valueUnsignedInt: 5 }, url('https://hook.example/in')])
      expect(maskedParameter(parameter)).toBe(parameter);
  });
});

describe('S9: the query of an endpoint', () => {
  const inForceOf = (valueUrl: string): ReturnType<typeof webhookSettingsOf> =>
    webhookSettingsOf([url(valueUrl)], undefined);

  it.each([
    ['https://hook.example/in?key=hush', 'https://hook.example/in?key=***'],
    ['HTTPS://Hook.example/a=b?key=hush&sig=a=b&&x=', 'HTTPS://Hook.example/a=b?key=***&sig=***&&x=***'],
    ['https://hook.example?hush', 'https://hook.example?***'],
    ['https://hook.example/?a=1?b=2', 'https://hook.example/?a=***'],
    ['https://hook.example/?a=hush;b=hush', 'https://hook.example/?a=***'],
    ['https://hook.example/?k%C3%A9y=hu%20sh&=hush', 'https://hook.example/?k%C3%A9y=***&=***'],
    ['https://hook.example/in?', 'https://hook.example/in?'],
  ])('of %s is shown as %s, which keeps the stored value', (sent, masked) => {
    const inForce = inForceOf(sent);
    expect(maskedParameter(url(sent))).toEqual(url(masked));
    expect(webhookSettingsOf([url(masked)], inForce)).toEqual(inForce);
    expect(webhookSettingsOf(unmaskedParameters([url(masked)], inForce), undefined)).toEqual(inForce);
  });

  it('takes masked values by name and in order, also on another path and next to new values', () => {
    const inForce = inForceOf('https://hook.example/in?a=1&b=2&a=3');
    const { endpoint: kept } = webhookSettingsOf([url('https://hook.example/out?a=***&c=new&a=***')], inForce);
    expect(kept).toBe('https://hook.example/out?a=1&c=new&a=3');
  });

  it.each([
    ['of a name without a stored value', 'https://hook.example/in?b=***'],
    ['that occurs more often than stored values', 'https://hook.example/in?key=***&key=***'],
    ['of another host', 'https://evil.example/in?key=***'],
    ['of another port', 'https://hook.example:8443/in?key=***'],
    ['without TLS', 'http://hook.example/in?key=***'],
  ])('is not sent for a mask %s', (_what, sent) => {
    expect(() => webhookSettingsOf([url(sent)], inForceOf('https://hook.example/in?key=hush'))).toThrow(
      'Send the value',
    );
    expect(() => webhookSettingsOf([url(sent)], undefined)).toThrow('Send the value');
  });
});
