import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadEntry, type LoadUnit } from './load-unit';

/** The indexes of the entries still to load, by file hash and unit number. A done unit has an empty list. */
type Remaining = Record<string, Record<string, readonly number[]>>;

/**
 * Records what was loaded into which server, so that an interrupted load can continue. Each unit appends a line to the
 * file: so a killed load keeps its record, and loads that run at the same time do not overwrite each other's.
 */
export class LoadState {
  private units: Remaining = {};

  private constructor(
    private readonly path: string,
    private readonly server: string,
  ) {}

  /** The file of the state: in the data folder of a local server, else in the current folder. */
  static pathIn({ DATA_DIR = 'data' }: NodeJS.ProcessEnv): string {
    return existsSync(DATA_DIR) ? join(DATA_DIR, 'load-state.json') : 'load-state.json';
  }

  /** @throws Error when the file exists and cannot be read. */
  static open(path: string, server: string, { restart = false } = {}): LoadState {
    const state = new LoadState(path, server);
    if (restart) state.append({});
    if (existsSync(path)) for (const line of readFileSync(path, 'utf8').split('\n')) state.take(line);
    return state;
  }

  remainingOf({ fileHash, number, entries }: LoadUnit): readonly LoadEntry[] {
    const left = this.units[fileHash]?.[number];
    return left === undefined ? entries : entries.filter((_entry, index) => left.includes(index));
  }

  /** Records the failed entries of a unit. A unit without failed entries is done. */
  note({ fileHash, number, entries }: LoadUnit, failed: readonly LoadEntry[]): void {
    this.append({ [fileHash]: { [number]: failed.map((entry) => entries.indexOf(entry)) } });
  }

  /** The line feed comes first: after a line that a full disk cut off, the next one is readable again. */
  private append(units: Remaining): void {
    appendFileSync(this.path, `\n${JSON.stringify({ [this.server]: units })}`);
  }

  /** Later lines replace earlier ones; a line without units forgets the server. Release 0.2.0 wrote all in one line. */
  private take(line: string): void {
    const units = parsed(line)?.[this.server];
    if (units === undefined) return;
    if (Object.keys(units).length === 0) this.units = {};
    for (const [fileHash, numbers] of Object.entries(units)) Object.assign((this.units[fileHash] ??= {}), numbers);
  }
}

/** Returns undefined for an empty line, or one that is cut off: its unit is then sent again. */
function parsed(line: string): Record<string, Remaining | undefined> | undefined {
  try {
    return JSON.parse(line) as Record<string, Remaining>;
  } catch {
    return undefined;
  }
}
