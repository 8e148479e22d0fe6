import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { codeIn, rowsOf, textOf } from './documents';
import { webhookSettingsOf } from '../../src/delivery/webhook/webhook-settings';

describe('docs/reference/topics.md and destinations.md', () => {
  let app: TestApp;
  const pages = ['docs/reference/topics.md', 'docs/reference/destinations.md'].map(textOf).join('\n');
  const examples = [...pages.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(examples)('contain examples that are accepted as they are: %s', async (text) => {
    const { resourceType, id } = JSON.parse(text) as { readonly resourceType: string; readonly id?: string };
    const answer =
      resourceType === 'Parameters'
        ? await app.post('/fhir/SvcSubscriptionTopic/$dry-run', text)
        : await app.put(`/fhir/${resourceType}/${id ?? ''}`, text);
    expect([answer.status, answer.text]).toEqual([resourceType === 'Parameters' ? 200 : 201, expect.any(String)]);
  });

  it('contain three examples', () => {
    expect(examples.length).toBe(3);
  });

  it('list the parameters of a webhook with the value fields', () => {
    const documented = rowsOf('docs/reference/destinations.md', 'Parameters of a webhook').map(([name, field]) => [
      codeIn(name)[0],
      codeIn(field)[0],
    ]);
    const endpoint = { name: 'endpoint', valueUrl: 'http://x.example' };
    const allowed = (): string => {
      try {
        webhookSettingsOf([endpoint, { name: 'else' }], undefined);
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return '';
    };
    expect(allowed()).toContain(`It has ${documented.map(([name]) => name).join(', ')}.`);
    for (const [name = '', field] of documented) {
      const wrong = { name, valueBoolean: true };
      expect(() => webhookSettingsOf([wrong], undefined)).toThrow(`${name} takes its value in ${field}`);
    }
  });
});
