import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadEntry, type LoadUnit } from './load-unit';

/** The indexes of the entries still to load, by server, file hash, and unit number. A done unit has an empty list. */
type Remaining = Record<string, Record<string, Record<string, readonly number[]>>>;

/** Records what was loaded into which server, so that an interrupted load can continue. */
export class LoadState {
  private constructor(
    private readonly path: string,
    private readonly server: string,
    private readonly all: Remaining,
  ) {}

  /** The file of the state: in the data folder of a local server, else in the current folder. */
  static pathIn({ DATA_DIR = 'data' }: NodeJS.ProcessEnv): string {
    return existsSync(DATA_DIR) ? join(DATA_DIR, 'load-state.json') : 'load-state.json';
  }

  /** @throws Error when the file exists and cannot be read. */
  static open(path: string, server: string, { restart = false } = {}): LoadState {
    const all = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Remaining) : {};
    if (restart) all[server] = {};
    return new LoadState(path, server, all);
  }

  remainingOf({ fileHash, number, entries }: LoadUnit): readonly LoadEntry[] {
    const left = this.all[this.server]?.[fileHash]?.[number];
    return left === undefined ? entries : entries.filter((_entry, index) => left.includes(index));
  }

  /** Records the failed entries of a unit. A unit without failed entries is done. */
  note({ fileHash, number, entries }: LoadUnit, failed: readonly LoadEntry[]): void {
    const units = ((this.all[this.server] ??= {})[fileHash] ??= {});
    units[number] = failed.map((entry) => entries.indexOf(entry));
  }

  /** Writes atomically, so that an interruption leaves no partial file. */
  save(): void {
    writeFileSync(`${this.path}.new`, JSON.stringify(this.all));
    renameSync(`${this.path}.new`, this.path);
  }
}
