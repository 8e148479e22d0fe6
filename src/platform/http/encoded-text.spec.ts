import { describe, expect, it } from '@jest/globals';
import { assertUtf8 } from './encoded-text';

describe(assertUtf8.name, () => {
  it.each(['', 'a=b', 'a=%C3%A9%e2%82%ac&b=%F0%9F%98%80', 'a=100%', 'a=%zz', 'a=%EF%BF%BD'])('accepts %s', (text) => {
    expect(() => {
      assertUtf8('The query', text);
    }).not.toThrow();
  });

  it.each(['a=%ff', 'a=%C3', 'a=%C3é', 'a=x%E2%82&b=%AC', 'a=%ED%A0%80', 'a=%C0%80'])('refuses %s', (text) => {
    expect(() => {
      assertUtf8('The query', text);
    }).toThrow(/query.*UTF-8/);
  });
});
