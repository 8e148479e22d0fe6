import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { textOf } from './documents';

interface Example {
  readonly resourceType?: string;
  readonly id?: string;
}

describe('the examples of docs/how-to/write-policies.md', () => {
  let app: TestApp;
  const examples = [...textOf('docs/how-to/write-policies.md').matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text = '']) => text,
  );

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(examples)('are accepted as they are: %s', async (text) => {
    const { resourceType, id } = JSON.parse(text) as Example;
    const answer =
      resourceType === undefined
        ? await app.post(text.includes('"policy"') ? '/auth/test-policy' : '/auth/test-request', text)
        : await app.put(`/${resourceType}/${id ?? ''}`, text);
    expect([answer.status, answer.text]).toEqual([resourceType === undefined ? 200 : 201, expect.any(String)]);
  });

  it('are more than five', () => {
    expect(examples.length).toBeGreaterThan(5);
  });
});
