import { type Cleanup } from './cleanup';

export interface SuiteOptions {
  /** Selects parts whose name contains this text. */
  readonly only?: string;
  /** Size of the data or number of requests; each suite defines its meaning and default. */
  readonly sizes?: readonly number[];
  /** A folder that keeps databases for the next run. */
  readonly keep?: string;
  /** A PostgreSQL of this machine to use instead of a new one. */
  readonly cluster?: string;
  /** The compiled server to compare with. */
  readonly build?: string;
}

export interface SuiteReport {
  readonly text: string;
  /** False when a limit was exceeded or a request got an unexpected response. */
  readonly isKept: boolean;
}

export type Suite = (options: SuiteOptions, cleanup: Cleanup) => Promise<SuiteReport>;

/**
 * Returns the parts selected by `--only`.
 * @throws Error that lists the names of all parts when it selects none
 */
export function chosen<T extends { readonly name: string }>(parts: readonly T[], only = ''): readonly T[] {
  const found = parts.filter(({ name }) => name.includes(only));
  if (found.length === 0) throw new Error(`--only takes one of ${parts.map(({ name }) => name).join(', ')}.`);
  return found;
}

/** The names of all suites, which `suites.ts` has. */
export const SUITE_NAMES = [
  'operations',
  'against',
  'capture',
  'coverage',
  'curves',
  'delivery',
  'everything',
  'fairness',
  'flood',
  'reindex',
  'scale',
  'turns',
] as const;
export type SuiteName = (typeof SUITE_NAMES)[number];
