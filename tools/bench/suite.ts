import { type Cleanup } from './cleanup';

export interface SuiteOptions {
  /** Only what has this text in its name. */
  readonly only?: string;
  /** How large the data are, or how many requests come; each suite has its own meaning and default. */
  readonly sizes?: readonly number[];
  /** A folder where databases stay for the next run. */
  readonly keep?: string;
  /** A PostgreSQL of this machine that is used instead of an own one. */
  readonly cluster?: string;
  /** The compiled server to compare with. */
  readonly build?: string;
}

export interface SuiteReport {
  readonly text: string;
  /** False when a promise was broken or a request was not answered as expected. */
  readonly isKept: boolean;
}

export type Suite = (options: SuiteOptions, cleanup: Cleanup) => Promise<SuiteReport>;

/** What `--only` leaves of named parts. @throws Error that lists the names when it leaves nothing */
export function chosen<T extends { readonly name: string }>(parts: readonly T[], only = ''): readonly T[] {
  const found = parts.filter(({ name }) => name.includes(only));
  if (found.length === 0) throw new Error(`--only takes one of ${parts.map(({ name }) => name).join(', ')}.`);
  return found;
}
