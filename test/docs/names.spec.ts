import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const SRC = join(__dirname, '../../src');

/** Names that may be defined in many files, since they mean the same everywhere; each with its reason. */
const CONVENTIONS: readonly string[] = [];

/** A function at the beginning of a line: a declaration, or a constant whose value is an arrow function. */
const FUNCTIONS =
  /^(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+)(?:: [^=;]+(?:=> [^=;]+)?)? =\s+(?:async )?[(<][^;]*?=>)/gm;

const namesIn = (text: string): Set<string> =>
  new Set(Array.from(text.matchAll(FUNCTIONS), ([, declared, constant]) => declared ?? constant ?? ''));

it('uses a function name in at most two files of src, so that a search for the name finds its definition', () => {
  const filesOf = new Map<string, string[]>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
    for (const name of namesIn(readFileSync(join(SRC, file), 'utf8')))
      filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
  }
  expect(filesOf.size).toBeGreaterThan(1000);
  expect([...filesOf].filter(([name, files]) => files.length > 2 && !CONVENTIONS.includes(name))).toEqual([]);
});
