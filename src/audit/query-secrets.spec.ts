import { describe, expect, it } from '@jest/globals';
import { withoutSecrets } from './query-secrets';

describe(withoutSecrets, () => {
  it.each([
    ['name=Doe&_count=2', 'name=Doe&_count=2'],
    ['a=1&access_token=hush&b', 'a=1&access_token=***&b'],
    ['client%5Fsecret=hush', 'client%5Fsecret=***'],
    ['Password=a=b', 'Password=***'],
    ['%E0%A4%A=x', '%E0%A4%A=x'],
    ['', ''],
    ['endpoint=https%3A%2F%2Fhook.example%2Fin%3Fkey%3Dhush', 'endpoint=***'],
    ['endpoint=https://hook.example/in?key=hush', 'endpoint=***'],
    ['endpoint=Endpoint/e1', 'endpoint=Endpoint/e1'],
  ])('turns %s into %s', (query, shown) => {
    expect(withoutSecrets(query)).toBe(shown);
  });
});
