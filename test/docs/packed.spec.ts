import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { documentPaths, rowsOf, textOf } from './documents';

const { files, dependencies } = JSON.parse(textOf('package.json')) as {
  files: readonly string[];
  dependencies: Readonly<Record<string, string>>;
};
const tools = rowsOf('docs/reference/tools.md', 'Tools').map(([name = '']) => name.replaceAll('`', ''));

/** The files that a tool runs, and the packages that it needs. */
function neededBy(entry: string): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const [found, packages] = [new Set([entry]), new Set<string>()];
  for (const path of found) {
    const text = readFileSync(path, 'utf8').replace(/^import type .*$/gm, '');
    for (const [, name = ''] of text.matchAll(/^(?:import|export|}) .*from '([^']+)';$/gm)) {
      if (!name.startsWith('.')) packages.add(/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '');
      else if (existsSync(`${normalize(join(path, '..', name))}.ts`))
        found.add(`${normalize(join(path, '..', name))}.ts`);
    }
  }
  return { files: [...found], packages: [...packages] };
}

/** A regular expression for a glob of `files` in package.json, or of .dockerignore. */
const patternOf = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.]/g, '\\.')
      .replace(/\{([^}]+)\}/g, (_all, names: string) => `(${names.replaceAll(',', '|')})`)
      .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(.*/)?'))}(/|$)`,
  );

describe('O8: the command-line tools for operators', () => {
  it('include those that the documents run in the image', () => {
    const called = documentPaths().flatMap((path) =>
      [...textOf(path).matchAll(/node dist\/tools\/([\w-]+)\//g)].map(([, name]) => name),
    );
    expect([...new Set(called)].filter((name = '') => !tools.includes(name))).toEqual([]);
    expect(tools.length).toBeGreaterThan(5);
  });

  it.each(tools)('are packed with all files and packages that they need: %s', (name) => {
    const needed = neededBy(`tools/${name}/${name}.ts`);
    const packed = (path: string): boolean =>
      files.some((glob) => patternOf(glob).test(`dist/${path.replace(/\.ts$/, '.js')}`));
    expect(needed.files.filter((path) => !packed(path))).toEqual([]);
    const isBuiltIn = (one: string): boolean => one.startsWith('node:') || builtinModules.includes(one);
    expect(needed.packages.filter((one) => !isBuiltIn(one) && dependencies[one] === undefined)).toEqual([]);
  });

  it('are packed with the page that error responses link to', () => {
    expect(files.some((glob) => patternOf(glob).test('dist/errors/reference/errors.html'))).toBe(true);
  });

  it('are copied to the image: .dockerignore admits all files that the Dockerfile copies', () => {
    const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    const through = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const isLet = (name: string): boolean => through.some((line) => line === `!${name.replace(/^\.\/(?=.)/, '')}`);
    expect(copied.filter((name) => !isLet(name))).toEqual([]);
    expect(copied).toContain('tools');
    expect(textOf('Dockerfile')).toMatch(/^COPY --from=build \/app\/dist \.\/dist$/m);
  });
});
