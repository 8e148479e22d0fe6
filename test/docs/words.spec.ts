import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { documentPaths, textOf } from './documents';

const ROOTS = ['src', 'test', 'tools', 'testing', 'client', 'console', 'examples'];
const SOURCE = /\.(?:ts|tsx|cjs|mjs)$/;
/**
 * Files without a check: migrations are frozen, the types of the client are generated, and this file names the
 * patterns.
 */
const EXEMPT = /(?:^|\/)(?:node_modules|dist)\/|\/migrations\/|client\/src\/api\.ts$|test\/docs\/words\.spec\.ts$/;

const MACHINES = '(?:server|worker|replica|process|processe|queue|job|database|PostgreSQL|receiver|spec|program)s?';

/** Patterns that readers do not understand at once, each with a plain replacement. */
const BANNED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwho(?:m|so)?ever\b/i, 'name the person or part'],
  [/\blest\b/i, 'so that … not'],
  [/\b(?:is|are|was|were|be|been|being|gets?) told\b/i, 'is logged, is returned, gets'],
  [/\bbut for\b/i, 'except'],
  [/\bbesides\b/i, 'in addition, beside'],
  [/\bat the moment\b/i, 'now'],
  [
    new RegExp(`\\b${MACHINES} (?:hears?|heard|tells?|told|knows?|knew|gives? way)\\b`),
    'receives, returns, reads, yields',
  ],
  [new RegExp(`\\b${MACHINES} asks?\\b`), 'queries, requests'],
  [/\bproofs? of life\b/i, 'heartbeat lock'],
  [/\brehears(?:al|e)/i, 'dry run'],
  [/\bin (?:one|a|the same) flight\b|\bflights? (?:of|hides?)\b/i, 'pipelined round trip'],
  [/\b(?:stands?|waits?|waiting) in line\b/i, 'queue'],
  [/\bhears? of\b/i, 'receives, subscribes to'],
  [/\b(?:who|that) holds it\b/i, 'lease holder'],
  [/\b(?:told|how) loud\b/i, 'log level'],
  [/\bSlowWork\b/, 'CPU budget'],
  [/\b(?:fast|slow|healthy|failing|prompt) lanes?\b/i, 'priority class'],
  [/\bfloors? of (?:a|the|each) (?:queue|destination)s?\b/i, 'low-water mark'],
  [/\bmembers? of (?:a|the) (?:chart|compartment)\b/i, 'entry'],
  [/\bfor ever\b/i, 'forever'],
  [/\b(?:gives?|gave) way\b/i, 'yields, is replaced'],
  [/\bof the house\b/i, 'of this server, of this operator'],
  [/\bthe dearest\b|\b(?:is|are|as|equally) dear\b|\bdear [a-z]{3,}/i, 'costly, expensive'],
  [/\bin vain\b/i, 'without a result'],
  [/\bfor want of\b/i, 'without'],
  [
    /\bof (?:its|their) own\b(?! [a-z])|\bof (?:its|their) own (?:and|for|in|must|on|or|to|with)\b/,
    'separate, its own …',
  ],
  [/\bstands? (?:beside|twice|in(?! for\b))\b/, 'is in, occurs'],
  [/\bof (?:two|those) who\b|\bfor who(?:m)? it\b/i, 'name the person or part'],
];

/** A sentence whose subject is a clause. Questions may begin so. */
const CLAUSE_FIRST = /(?:^|[.!;:] )(?:What|Who|Which)\b[^.?]*(?:[.]|$)/;

const BLOCK = /\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ (.*(?:\n\s*\/\/ .*)*)/gm;
const unwrapped = (text: string): string => text.replace(/\s*\n\s*(?:\*|\/\/|>|)\s*/g, ' ');

interface Comment {
  readonly line: number;
  readonly text: string;
}

function commentsIn(source: string): Comment[] {
  return [...source.matchAll(BLOCK)].map(({ 0: whole, 1: block, 2: lines, index }) => ({
    line: source.slice(0, index + whole.search(/\S/)).split('\n').length,
    text: unwrapped(block ?? lines ?? '').trim(),
  }));
}

/** Paragraphs and list items of Markdown, without code. Headings and cells are labels, not sentences. */
function paragraphsIn(markdown: string): Comment[] {
  let line = 1;
  const prose = markdown
    .replace(/^ *```[\s\S]*?^ *```/gm, (code) => code.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '``');
  return prose.split(/\n(?= *(?:[-*#|]|\d+\.|\n))/).map((text) => {
    const isLabel = /^\s*[#|]/.test(text);
    const found = { line, text: isLabel ? '' : unwrapped(text.replace(/^[\s*-]+|\*\*/g, '')).trim() };
    line += text.split('\n').length;
    return found;
  });
}

const bannedIn = (text: string): string[] =>
  BANNED.flatMap(([pattern, instead]) => {
    const [found] = pattern.exec(text) ?? [];
    return found === undefined ? [] : [`"${found}": ${instead}`];
  });
const bannedLinesIn = (text: string): string[] =>
  text.split('\n').flatMap((line, index) => bannedIn(line).map((what) => `${index + 1} ${what}`));
const clauseIn = (text: string): string[] => {
  const [found] = CLAUSE_FIRST.exec(text) ?? [];
  return found === undefined ? [] : [`"${found.slice(0, 60)}": begin with the thing or the action`];
};

const sources = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => `${root}/${name.replaceAll('\\', '/')}`),
).filter((path) => SOURCE.test(path) && !EXEMPT.test(path));

describe('plain words', () => {
  it.each([
    ['Whoever hung up is left out.', 1],
    ['What cannot be recorded is not told.', 1],
    ['Fails. Who has no token is told so.', 2],
    ['The server tells the worker, lest it waits.', 2],
    ['Both travel in one flight, and give way to others for ever.', 3],
    ['A batch has a record of its own, which stands in the list.', 2],
    ['The owner of its own types stands in for another.', 0],
    ['What should a client do? Nothing.', 0],
    ['Skips requests whose client disconnected.', 0],
  ])('finds banned words in "%s": %d', (text, count) => {
    expect([...bannedIn(text), ...clauseIn(text)]).toHaveLength(count);
  });

  it('are used in sources: comments and texts contain no banned words', () => {
    const found = sources.flatMap((path) => {
      const text = textOf(path);
      const inText = bannedIn(text).length === 0 ? [] : bannedLinesIn(text);
      const inComments = commentsIn(text).flatMap(({ line, text: comment }) =>
        [...bannedIn(comment), ...clauseIn(comment)].map((what) => `${line} ${what}`),
      );
      return [...new Set([...inText, ...inComments])].map((place) => `${path}:${place}`);
    });
    expect(sources.length).toBeGreaterThan(1500);
    expect(found).toEqual([]);
  });

  it('are used in the docs: paragraphs contain no banned words', () => {
    const paths = documentPaths().filter((path) => !/api\.md$|CHANGELOG/.test(path));
    const found = paths.flatMap((path) =>
      paragraphsIn(textOf(path)).flatMap(({ line, text }) =>
        [...bannedIn(text), ...clauseIn(text)].map((what) => `${path}:${line} ${what}`),
      ),
    );
    expect(found).toEqual([]);
  });
});

it('sources wrap comments at 120 characters', () => {
  const long = sources.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(?:\/\/|\*|\/\*)/.test(line) && [...line].length > 120 ? [`${path}:${index + 1}`] : [],
      ),
  );
  expect(long).toEqual([]);
});
