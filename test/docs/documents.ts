import { readFileSync, readdirSync } from 'node:fs';

export const textOf = (path: string): string => readFileSync(path, 'utf8');

/** README and all of docs, by their paths from the root. */
export const documentPaths = (): string[] => [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** The text of a file without its blocks of code. */
export const proseOf = (path: string): string => textOf(path).replace(/^( *)```[\s\S]*?^\1```$/gm, '');

/** The anchors that GitHub gives to the headings of a page. */
export const anchorsOf = (path: string): string[] =>
  [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  );

/** The text below a heading, up to the next one of any level. */
export function sectionOf(path: string, heading: string): string {
  const [, ...lines] = textOf(path).split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [section = ''] = lines.join('').split(/^#+ /m);
  if (section === '') throw new Error(`${path} has no section "${heading}"`);
  return section;
}

/** The cells of each row of the tables of a section, without their heads. */
export function rowsOf(path: string, heading: string): string[][] {
  const lines = sectionOf(path, heading).split('\n');
  const isRule = (line: string | undefined): boolean => /^\|[ :|-]+\|$/.test(line ?? '');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

export const codeIn = (text = ''): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
