import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadEntry, type LoadUnit } from './load-unit';

/** By server, by content of a file, by unit: the entries that are still to do. An empty list: the unit is done. */
type Remaining = Record<string, Record<string, Record<string, readonly number[]>>>;

/** Remembers what was loaded into which server, so that a load that was broken off goes on where it was. */
export class LoadState {
  private constructor(
    private readonly path: string,
    private readonly server: string,
    private readonly all: Remaining,
  ) {}

  /** Where the state is kept: with the data of the server that stands beside, else in the present folder. */
  static pathIn({ DATA_DIR = 'data' }: NodeJS.ProcessEnv): string {
    return existsSync(DATA_DIR) ? join(DATA_DIR, 'load-state.json') : 'load-state.json';
  }

  /** @throws Error when the file is there and cannot be read. */
  static open(path: string, server: string, { restart = false } = {}): LoadState {
    const all = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Remaining) : {};
    if (restart) all[server] = {};
    return new LoadState(path, server, all);
  }

  /** The entries of a unit that are still to do. */
  remainingOf({ fileHash, number, entries }: LoadUnit): readonly LoadEntry[] {
    const left = this.all[this.server]?.[fileHash]?.[number];
    return left === undefined ? entries : entries.filter((_entry, index) => left.includes(index));
  }

  /** Notes what of a unit failed; nothing when it is done. */
  note({ fileHash, number, entries }: LoadUnit, failed: readonly LoadEntry[]): void {
    const units = ((this.all[this.server] ??= {})[fileHash] ??= {});
    units[number] = failed.map((entry) => entries.indexOf(entry));
  }

  /** Whole or not at all, also when it is broken off. */
  save(): void {
    writeFileSync(`${this.path}.new`, JSON.stringify(this.all));
    renameSync(`${this.path}.new`, this.path);
  }
}
