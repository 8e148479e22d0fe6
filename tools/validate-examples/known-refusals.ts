import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Correct refusals, caused by errors in the examples themselves. */
export interface KnownRefusals {
  readonly about: string;
  readonly refusals: readonly {
    /** The code of the issue, and the beginning of its diagnostics. */
    readonly issue: string;
    readonly reason: string;
    readonly files: readonly string[];
  }[];
}

export function readKnownRefusals(): KnownRefusals {
  return JSON.parse(readFileSync(resolve('tools/validate-examples/known-refusals.json'), 'utf8')) as KnownRefusals;
}

/** Whether a refusal is in the list. */
export function isKnown({ refusals }: KnownRefusals, file: string, issue: string): boolean {
  return refusals.some((known) => issue.startsWith(known.issue) && known.files.includes(file));
}
