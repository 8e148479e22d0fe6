import { describe, expect, it } from '@jest/globals';
import { changesBetween, valuesOf } from './body';

const changes = async (before: string, after: string): Promise<unknown[]> =>
  (await changesBetween(before, after)).map(({ type, path, old, new: now }) => [
    type,
    path.join('.'),
    old?.text,
    now?.text,
  ]);

describe('bodies as rows', () => {
  it('show numbers with the digits of the text', async () => {
    const rows = await valuesOf('{"resourceType":"Observation","valueQuantity":{"value":1.10,"unit":"mg"}}');
    expect(rows.map(({ label, new: value }) => [label, value])).toEqual([
      [['Value quantity'], { text: '1.10', kind: 'number', unit: 'mg' }],
    ]);
  });

  it('list each changed field of two versions, and mark a number that was only respelled', async () => {
    expect(
      await changes(
        '{"meta":{"versionId":"1","lastUpdated":"2026-01-01T00:00:00Z"},"a":1.10,"b":"x","c":true}',
        '{"meta":{"versionId":"2","lastUpdated":"2026-01-02T00:00:00Z"},"a":1.1,"b":"y","d":[1]}',
      ),
    ).toEqual([
      ['respelled', 'a', '1.10', '1.1'],
      ['changed', 'b', 'x', 'y'],
      ['removed', 'c', 'true', undefined],
      ['added', 'd.0', undefined, '1'],
    ]);
  });

  it('show a security label that was removed', async () => {
    const meta = (security: string): string => `{"meta":{"versionId":"1"${security}},"a":1}`;
    expect(await changes(meta(',"security":[{"code":"R"}]'), meta(''))).toEqual([
      ['removed', 'meta.security.0.code', 'R', undefined],
    ]);
  });

  it('yield to other tasks while a body of megabytes is read', async () => {
    const text = `{"list":[${Array.from({ length: 40_000 }, (_, index) => `{"a":${index},"b":"text ${index}"}`).join(',')}]}`;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const rows = await valuesOf(text);
    clearInterval(timer);
    expect(rows).toHaveLength(80_000);
    expect(turns).toBeGreaterThan(3);
  }, 60_000);

  it('stop when the signal aborts', async () => {
    const text = `{"list":[${'1,'.repeat(500_000)}1]}`;
    await expect(valuesOf(text, AbortSignal.abort(new Error('left the page')))).rejects.toThrow('left the page');
  });
});
