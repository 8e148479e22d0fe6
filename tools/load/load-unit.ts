/** One request of a load: a Bundle, and the source of its entries. */
export interface LoadUnit {
  readonly file: string;
  /** Hash of the file's content: it identifies loaded data, wherever the file is. */
  readonly fileHash: string;
  /** The number of the unit within its file, from 0. */
  readonly number: number;
  readonly type: 'transaction' | 'batch';
  readonly entries: readonly LoadEntry[];
}

export interface LoadEntry {
  /** The place of the entry in its file, for people: `entry 3`, `line 17`. */
  readonly place: string;
  readonly resourceType: string;
  /** The entry as JSON text, so that numbers keep their digits. */
  readonly text: string;
  /** Whether sending the entry twice has the same effect as sending it once. */
  readonly isRepeatable: boolean;
}

export const bundleTextOf = ({ type, entries }: LoadUnit): string =>
  `{"resourceType":"Bundle","type":"${type}","entry":[${entries.map(({ text }) => text).join(',')}]}`;
