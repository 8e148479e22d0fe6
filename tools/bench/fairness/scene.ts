import { type Attack } from './attack';

/** What the server promises while a scene runs. What is absent is printed, not promised. */
export interface Promises {
  readonly memoryMegabytes?: number;
  readonly readsP99Milliseconds?: number;
  /** The only statuses of answers to the attack. */
  readonly statuses?: readonly number[];
  /** Answers 2xx to the attack. */
  readonly successesPerSecond?: number;
  /** How many answers 2xx one caller may have more than another: callers take turns. */
  readonly spread?: number;
  /** The slowest right login among those of the attack. */
  readonly loginSeconds?: number;
  /** After that time nothing of the attack runs in the database, when its clients have left. */
  readonly quietSeconds?: number;
}

export interface Scene {
  readonly name: string;
  readonly promises: Promises;
  /** Runs in a process of its own. Ends with all clients gone. */
  readonly attack: (attack: Attack) => Promise<unknown>;
}
