import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT_SECRET, startTestApp, type TestApp } from '../../testing/test-app';
import { world } from '../../testing/world';
import { textOf } from './documents';

const BLOCK = /^(?:`([\w.-]+)`\n\n)?```(\w+)\n([\s\S]*?)```$/gm;
const SEPARATOR = '-- block';

interface Step {
  readonly shell: string;
  /** Lines that the page shows below the block. */
  readonly prints: readonly string[];
}

const blocksOf = (page: string): { name?: string; kind: string; text: string }[] =>
  [...textOf(page).matchAll(BLOCK)].map(([, name, kind = '', text = '']) => ({
    kind,
    text,
    ...(name === undefined ? {} : { name }),
  }));

/**
 * The shell blocks of a page, each with its printed lines. The steps begin at the first block that names the server.
 */
function stepsOf(page: string): Step[] {
  const blocks = blocksOf(page).filter(({ kind }) => kind === 'sh' || kind === 'text');
  const steps = blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1];
    const prints = next?.kind === 'text' ? next.text.trim().split('\n') : [];
    return kind === 'sh' ? [{ shell: text, prints }] : [];
  });
  return steps.slice(steps.findIndex(({ shell }) => shell.startsWith('BASE=')));
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        found(port);
      });
    });
  });
}

describe('the tutorials', () => {
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    mkdirSync('dist', { recursive: true });
    folder = mkdtempSync(resolve('dist', 'tutorial-'));
    app = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on' } });
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (steps: readonly Step[], changes: Readonly<Record<string, string>> = {}): Promise<string[]> => {
    let script = steps.map(({ shell }) => shell).join(`\necho '${SEPARATOR}'\n`);
    script = script.replace(/^BASE=.*$/m, `BASE=${app.url}`).replace(/^ROOT=.*$/m, `ROOT=root:${ROOT_SECRET}`);
    for (const [from, to] of Object.entries(changes)) script = script.replaceAll(from, to);
    const words = [
      '-e',
      '-c',
      `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
${script}`,
    ];
    const { stdout } = await promisify(execFile)('bash', words, { cwd: folder, timeout: 60_000 });
    return stdout.split(`${SEPARATOR}\n`);
  };

  it.each([
    ['docs/tutorials/first-hour.md', 7],
    ['docs/tutorials/webhook-receiver.md', 8],
  ])('run as written, and print the shown lines: %s', async (page, least) => {
    for (const { name, text } of blocksOf(page)) if (name !== undefined) writeFileSync(join(folder, name), text);
    const steps = stepsOf(page);
    expect(steps.length).toBeGreaterThanOrEqual(least);
    const port = await freePort();
    const printed = await run(steps, { '9090': String(port) });
    for (const [index, { shell, prints }] of steps.entries()) {
      const text = printed[index] ?? '';
      expect([shell, prints.filter((line) => !text.includes(line)), text]).toEqual([shell, [], text]);
    }
    expect(printed.join('').match(/"error"|"severity":"(?:error|fatal)"/g) ?? []).toEqual([]);
    // A repeated notification is not processed again.
    expect(printed.join('').match(/^patient ana: Abel-Lind$/gm)?.length ?? 0).toBe(page.includes('webhook') ? 1 : 0);
  });

  it('contain a module that passes its test: docs/tutorials/your-own-module.md', async () => {
    for (const { name, text } of blocksOf('docs/tutorials/your-own-module.md'))
      if (name !== undefined) writeFileSync(join(folder, name), text);
    const { GreetingModule } = (await import(join(folder, 'greeting.module.ts'))) as {
      GreetingModule: new () => object;
    };
    const own = await startTestApp({ modules: [GreetingModule] });
    try {
      // The same test as on the page, which runs it with another test runner.
      const { nurse, visitor } = await world(own, {
        people: {
          nurse: { policies: [{ engine: 'allow-rpc', type: 'rpc', rpc: { 'acme.greeting/greet': true } }] },
          visitor: { policies: [] },
        },
        resources: { 'Patient/ana': { name: [{ given: ['Ana'] }] } },
      });
      const call = (params: object, authorization: string) =>
        own.post('/rpc', { method: 'acme.greeting/greet', params }, { authorization });
      const params = { patientId: 'ana', greeting: 'Good morning' };
      expect((await call(params, nurse.bearer)).text).toContain('Good morning, Ana!');
      expect((await call(params, visitor.bearer)).status).toBe(403);
      const [shown = ''] = blocksOf('docs/tutorials/your-own-module.md').flatMap(({ kind, text }) =>
        kind === 'text' ? [text.trim()] : [],
      );
      expect((await call({ patientId: 'ana' }, nurse.bearer)).text).toContain(shown);
    } finally {
      await own.close();
    }
  });
});
