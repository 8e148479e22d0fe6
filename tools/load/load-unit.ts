/** One request of a load: a Bundle, and where its entries come from. */
export interface LoadUnit {
  readonly file: string;
  /** Of the file's content: what was loaded is known by it, wherever the file lies. */
  readonly fileHash: string;
  /** Number of the unit within its file, from 0. */
  readonly number: number;
  readonly type: 'transaction' | 'batch';
  readonly entries: readonly LoadEntry[];
}

export interface LoadEntry {
  /** For people: `entry 3`, `line 17`. */
  readonly place: string;
  readonly resourceType: string;
  /** The entry as JSON text: numbers keep their digits. */
  readonly text: string;
  /** Whether doing it twice is the same as doing it once. */
  readonly isRepeatable: boolean;
}

export const bundleTextOf = ({ type, entries }: LoadUnit): string =>
  `{"resourceType":"Bundle","type":"${type}","entry":[${entries.map(({ text }) => text).join(',')}]}`;
