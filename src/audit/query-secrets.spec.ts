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
  ])('turns %s into %s', (query, shown) => {
    expect(withoutSecrets(query)).toBe(shown);
  });
});
