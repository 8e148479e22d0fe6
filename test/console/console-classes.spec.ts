import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const SOURCES = join(__dirname, '../../console/src');

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).map((name) => join(SOURCES, name));
const sheets = files.filter((name) => name.endsWith('.css'));
const textOf = (name: string): string => readFileSync(name, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
const classesIn = (sheet: string): Set<string> => {
  const selectors = textOf(sheet)
    .replaceAll(/:global\([^)]*\)/g, '')
    .match(/[^{};]+(?=\{)/g);
  return new Set(
    selectors?.flatMap((selector) => [...selector.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name]) => name ?? '')),
  );
};

const components = files
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => {
    const text = textOf(name);
    const [, from] = /^import css from '(.+)';$/m.exec(text) ?? [];
    return { name, text, sheet: from === undefined ? undefined : resolve(dirname(name), from) };
  });

/** Class names that no source spells out: components compute them from a state or a kind, as in `css[tone]`. */
const COMPUTED = new Set([
  'good',
  'warn',
  'bad',
  'added',
  'removed',
  'changed',
  'number',
  'boolean',
  'null',
  'string',
  'key',
  'word',
  'end',
  'comment',
  'note',
]);

// TypeScript does not check class names of style sheets: an element with a misspelt class would have no style.
describe('classes of the console', () => {
  it('are defined in the sheet of their component', () => {
    const missing = components.flatMap(({ name, text, sheet }) => {
      const known = sheet === undefined ? new Set<string>() : classesIn(sheet);
      return [...text.matchAll(/\bcss\.([A-Za-z]\w*)/g)]
        .map(([, used]) => used ?? '')
        .filter((used) => !known.has(used))
        .map((used) => `${relative(SOURCES, name)}: ${used}`);
    });
    expect(missing).toEqual([]);
  });

  it('are defined in the base sheet if a component names them as text', () => {
    const known = classesIn(join(SOURCES, 'styles/base.css'));
    const missing = components.flatMap(({ name, text }) =>
      [...text.matchAll(/\bclassName=(?:"([^"]+)"|\{`([^`]+)`\})/g)]
        .flatMap(([, plain, template = '']) => (plain ?? template.replaceAll(/\$\{[^}]*\}/g, '')).split(/\s+/))
        .filter((used) => used !== '' && !known.has(used))
        .map((used) => `${relative(SOURCES, name)}: ${used}`),
    );
    expect(missing).toEqual([]);
  });

  it('are used', () => {
    const unused = sheets
      .filter((sheet) => sheet.endsWith('.module.css'))
      .flatMap((sheet) => {
        const text = components.filter((one) => one.sheet === sheet).map((one) => one.text);
        const isComputed = text.some((one) => /\bcss\[/.test(one));
        return [...classesIn(sheet)]
          .filter((known) => !text.some((one) => new RegExp(`\\bcss\\.${known}\\b|'${known}'`).test(one)))
          .filter((known) => !isComputed || !COMPUTED.has(known))
          .map((known) => `${relative(SOURCES, sheet)}: ${known}`);
      });
    expect(unused).toEqual([]);
  });
});
