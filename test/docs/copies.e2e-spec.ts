import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BASE_URL, ROOT_SECRET, startTestApp, type TestApp } from '../../testing/test-app';
import { textOf } from './documents';

interface Copy {
  readonly next: string;
  readonly resources: Readonly<Record<string, { readonly meta: { readonly versionId: string } }>>;
}

describe('the program of docs/how-to/keep-a-copy.md', () => {
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    mkdirSync('dist', { recursive: true });
    folder = mkdtempSync(resolve('dist', 'copy-'));
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(textOf('docs/how-to/keep-a-copy.md')) ?? [];
    app = await startTestApp();
    // Links begin with the BASE_URL of the test server, which resolves to no address.
    const local = program.replace('fetch(url', `fetch(url.replace('${BASE_URL}', '${app.url}')`);
    writeFileSync(join(folder, 'copy.mjs'), local);
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = (): Copy => JSON.parse(readFileSync(join(folder, 'copy.json'), 'utf8')) as Copy;

  async function round(): Promise<Copy> {
    const AUTHORIZATION = `Basic ${Buffer.from(`root:${ROOT_SECRET}`).toString('base64')}`;
    const env = { BASE: BASE_URL, AUTHORIZATION, TYPE: 'Basic', FILE: join(folder, 'copy.json') };
    await promisify(execFile)(process.execPath, [join(folder, 'copy.mjs')], { env });
    return read();
  }

  const basic = (text: string): object => ({ code: { text } });

  /** Writes one by one and in transactions; each third write deletes. */
  async function write(writer: number): Promise<void> {
    for (let i = 0; i < 30; i++) {
      const path = `Basic/${writer}-${i % 5}`;
      if (i % 3 === 2) await app.delete(`/fhir/${path}`);
      else if (i % 3 === 1) await app.put(`/fhir/${path}`, basic(`${i}`));
      else
        await app.post('/fhir', {
          ...{ resourceType: 'Bundle', type: 'transaction' },
          entry: Array.from({ length: 10 }, (_none, n) => ({
            request: { method: 'PUT', url: `Basic/${writer}-t${n}` },
            resource: { resourceType: 'Basic', id: `${writer}-t${n}`, ...basic(`${i}`) },
          })),
        });
    }
  }

  it('copies each write and deletion, also of transactions that commit during a read', async () => {
    const writes = Promise.all([0, 1, 2].map(write)).then(() => true);
    do await round();
    while (!(await Promise.race([writes, delay(1, false)])));
    const { resources } = await round();

    const stored = (await app.get('/fhir/Basic?_count=1000')).json<{
      entry: { fullUrl: string; resource: { meta: { versionId: string } } }[];
    }>();
    const versions = (all: [string, { meta: { versionId: string } }][]): string[] =>
      all.map(([url, { meta }]) => `${url} ${meta.versionId}`).sort();
    expect(versions(Object.entries(resources))).toEqual(
      versions(stored.entry.map(({ fullUrl, resource }) => [fullUrl, resource])),
    );
  });

  it('starts again from the beginning if its link belongs to another history', async () => {
    const { next, ...rest } = read();
    const foreign = next.replace(/_txid=\d+-/, '_txid=1-');
    writeFileSync(join(folder, 'copy.json'), JSON.stringify({ ...rest, next: foreign }));

    expect(await round()).toMatchObject({ next: expect.stringContaining('_txid=0'), resources: {} });
    expect(Object.keys((await round()).resources)).not.toEqual([]);
  });
});
