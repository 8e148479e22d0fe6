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

describe(maskedParameter.name, () => {
  it('keeps the name of a header alone', () => {
    expect(maskedParameter(header('Authorization:Basic a:b'))).toEqual(header('Authorization: ***'));
  });

  it('leaves other parameters as they are', () => {
    expect(maskedParameter(endpoint)).toBe(endpoint);
  });
});
