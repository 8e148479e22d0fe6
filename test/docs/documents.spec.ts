import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { anchorsOf, codeIn, documentPaths, proseOf, rowsOf, textOf } from './documents';

/** The length of a line without its URLs, which cannot be wrapped. */
const shownLength = (line: string): number => line.replace(/\]\([^)]*\)|https?:\S+/g, ']').length;

const EXTENSIONS = 'examples/ward/src';
const SPEC = 'hand-over.test.ts';

describe.each(documentPaths())('%s', (path) => {
  it('links to files that exist', () => {
    const links = [...textOf(path).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(dirname(path), link)))).toEqual([]);
  });

  it('links to headings that exist', () => {
    const links = [...textOf(path).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
    const dead = links.filter(([, link = '', anchor = '']) => {
      const target = link === '' ? path : join(dirname(path), link);
      return target.endsWith('.md') && !anchorsOf(target).includes(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  it('wraps its lines at 120 characters', () => {
    const prose = proseOf(path).split('\n');
    const long = prose.filter((line) => !line.startsWith('|') && shownLength(line) > 120);
    expect(long).toEqual([]);
  });

  it('has at most 170 characters in a table cell', () => {
    const cells = proseOf(path)
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^\|[ :|-]+\|$/.test(line))
      .flatMap((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    expect(cells.filter((cell) => shownLength(cell) > 170)).toEqual([]);
  });

  it('contains no dated measurements, except on the pages of figures', () => {
    const isForFigures = /^(CHANGELOG|docs\/(performance|reliability|adr\/.*))\.md$/.test(path);
    const dated = proseOf(path)
      .split('\n')
      .filter((line) => /20\d\d-\d\d-\d\d, |\b(?:busy|quiet|idle) machine\b/.test(line));
    expect(isForFigures ? [] : dated).toEqual([]);
  });

  it('names files that exist', () => {
    const named = codeIn(textOf(path)).filter((code) => /^(src|test|tools|docs|examples)\/[\w./-]+$/.test(code));
    expect(named.filter((name) => !existsSync(name))).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('links to every page', () => {
    const links = [...textOf('docs/README.md').matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => join('docs', link));
    const pages = documentPaths().filter((path) => !path.startsWith('docs/adr/') && !path.endsWith('README.md'));
    const isReport = (path: string): boolean => path.endsWith('.api.md');
    const unlinked = pages.filter((path) => path.startsWith('docs/') && !isReport(path) && !links.includes(path));
    expect(unlinked).toEqual([]);
  });
});

describe('docs/reference/public-api.md', () => {
  it('lists the functions, classes and decorators of both entries', () => {
    const exports = ['src/index.ts', 'testing/index.ts'].flatMap((entry) =>
      [...textOf(entry).matchAll(/export \{([^}]+)\}/g)].flatMap(([, names = '']) => names.split(',')),
    );
    const values = exports.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
    const rows = rowsOf('docs/reference/public-api.md', 'Functions, classes and decorators');
    expect(rows.flatMap(([, names]) => codeIn(names)).sort()).toEqual(values.sort());
  });
});

describe('docs/architecture.md', () => {
  it('states the layers of .dependency-cruiser.cjs', () => {
    const rules = textOf('.dependency-cruiser.cjs').matchAll(/^ {2}\[\s*'([\w-]+)',\s*\[(.*)\],?\s*\],$/gm);
    const wanted = [...rules].map(([, room, below = '']) => [room, below.replaceAll("'", '')]);
    const documented = rowsOf('docs/architecture.md', 'Layers').map(([room, below]) => [
      codeIn(room)[0],
      codeIn(below).join(', '),
    ]);
    expect(documented).toEqual(wanted);
  });
});

describe('docs/how-to/extend.md', () => {
  const examples = readdirSync(EXTENSIONS);
  const blocks = new Map(
    [...textOf('docs/how-to/extend.md').matchAll(/^`([\w.-]+)`\n\n(?:<!--.*-->\n)?```\w+\n([\s\S]*?)```/gm)].map(
      ([, name, code]) => [name, code] as const,
    ),
  );

  it.each(examples)('shows %s as in the example', (name) => {
    expect(blocks.get(name)).toBe(textOf(join(EXTENSIONS, name)));
  });

  it('shows the spec as in the example', () => {
    expect(blocks.get(SPEC)).toBe(textOf(join('examples/ward/test', SPEC)));
  });

  it('shows no other files, and each in under 30 lines below its imports', () => {
    expect([...blocks.keys()].sort()).toEqual([...examples, SPEC].sort());
    const lengths = [...blocks].map(([name, code = '']) => [name, linesBelowImports(code)] as const);
    expect(lengths.filter(([, length]) => length >= 30)).toEqual([]);
  });
});

const linesBelowImports = (code: string): number =>
  (code.split(/^.*from '.*';\n/m).at(-1) ?? '').trim().split('\n').length;

describe('docs/adr', () => {
  const decisions = readdirSync('docs/adr')
    .filter((name) => name !== 'README.md')
    .sort();

  it('are numbered without gaps', () => {
    expect(decisions.map((name) => Number(name.slice(0, 4)))).toEqual(decisions.map((_, index) => index + 1));
  });

  it.each(decisions)('%s is one page with its number and a date', (name) => {
    const lines = textOf(`docs/adr/${name}`).split('\n');
    expect(lines[0]).toMatch(new RegExp(`^# ${name.slice(0, 4)} `));
    expect(lines[2]).toMatch(/^\d{4}-\d\d-\d\d, /);
    expect(lines.length).toBeLessThanOrEqual(57);
  });

  it('have an index of all titles, which marks superseded decisions', () => {
    const items = [...textOf('docs/adr/README.md').matchAll(/^- \[.*(?:\n {2}.*)*/gm)];
    const titles = decisions.map((name) => {
      const [heading = '', , status = ''] = textOf(`docs/adr/${name}`).split('\n');
      const [, successor] = /superseded by \[(\d{4})\]/.exec(status) ?? [];
      const note = successor === undefined ? '' : ` (superseded by ${successor})`;
      return `- [${name.slice(0, 4)}](${name}) ${heading.slice('# 0000 '.length)}${note}`;
    });
    expect(items.map(([item]) => item.replace(/\n */g, ' ')).sort()).toEqual(titles);
  });

  it('contain every ADR that sources and documents name', () => {
    const sources = ['src', 'test', 'tools'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    );
    const numbers = [...sources, ...documentPaths()].flatMap((path) =>
      [...textOf(path).matchAll(/ADR (\d{4})/g)].map(([, number]) => number),
    );
    const known = decisions.map((name) => name.slice(0, 4));
    expect([...new Set(numbers)].filter((number = '') => !known.includes(number))).toEqual([]);
    expect(numbers.length).toBeGreaterThan(0);
  });
});
