import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const FILES = {
  'src/main.ts': 'export const answer: number = 1;',
  'src/old.ts': 'export {};',
  'src/data.json': '{}',
  'src/main.spec.ts': 'export {};',
  'testing/index.ts': 'export {};',
  'client/src/index.ts': 'export {};',
  'console/index.html': '<!doctype html><title>Console</title>',
  'console/vite.config.mjs': 'export default { build: { outDir: process.env.SVC_CONSOLE_OUT, emptyOutDir: true } };',
  'dist/site/index.html': 'the site',
  'docs/reference/errors.md':
    '# Errors\n\n## 400 Bad Request\n\n### invalid\n\n- **Cause**: `1 < 0`.\n- **Remedy**: [None](a.md).\n',
};

describe('npm run build', () => {
  let folder: string;
  const at = (path: string): string => join(folder, path);
  const build = async (): Promise<string> =>
    (await promisify(execFile)(process.execPath, [at('tools/build.cjs')])).stdout;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-build-'));
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), text);
    }
    await mkdir(at('tools'));
    for (const name of ['tools/build.cjs', 'tools/errors-page.cjs', '.swcrc', 'package-lock.json'])
      await cp(name, at(name));
    await mkdir(at('node_modules'));
    for (const name of ['@swc', 'vite'])
      await symlink(join(process.cwd(), 'node_modules', name), at(`node_modules/${name}`));
    await build();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('compiles the sources without specs, copies other files, and keeps the site', async () => {
    expect((await readdir(at('dist/src'))).filter((name) => !name.endsWith('.map')).sort()).toEqual([
      'data.json',
      'main.js',
      'old.js',
    ]);
    const map = JSON.parse(await readFile(at('dist/src/main.js.map'), 'utf8')) as { readonly sources: unknown };
    expect(map.sources).toEqual(['../../src/main.ts']);
    expect(await readFile(at('dist/console/index.html'), 'utf8')).toContain('<title>Console');
    expect(await readFile(at('dist/site/index.html'), 'utf8')).toBe('the site');
    expect(await readFile(at('dist/errors/reference/errors.html'), 'utf8')).toContain(
      '<h3 id="invalid">invalid</h3>\n<ul>\n<li><strong>Cause</strong>: <code>1 &lt; 0</code>.</li>\n' +
        '<li><strong>Remedy</strong>: None.</li>\n</ul>',
    );
  });

  it('does nothing if no source is newer', async () => {
    const { ino } = await stat(at('dist'));
    expect(await build()).toBe('');
    expect((await stat(at('dist'))).ino).toBe(ino);
  });

  it('updates a changed file, and drops a removed one', async () => {
    await writeFile(at('src/main.ts'), 'export const answer: number = 2;');
    await rm(at('src/old.ts'));
    expect(await build()).toContain('Building');
    expect(await readFile(at('dist/src/main.js'), 'utf8')).toContain('answer = 2');
    expect(await readdir(at('dist/src'))).not.toContain('old.js');
  });

  it('keeps the existing build if a source does not compile, and names the position', async () => {
    await writeFile(at('src/main.ts'), 'export const answer: number = ;');
    await expect(build()).rejects.toThrow(/main\.ts[^]*dist\/ is as it was/);
    expect(await readFile(at('dist/src/main.js'), 'utf8')).toContain('answer = 2');
    expect(await readdir(at('node_modules/.cache'))).toEqual([]);
  });
});
