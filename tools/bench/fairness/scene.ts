import { type Attack } from './attack';

/** Limits that the server promises to keep during a scene. Figures without a limit are only printed. */
export interface Promises {
  readonly memoryMegabytes?: number;
  readonly readsP99Milliseconds?: number;
  /** The only allowed statuses of responses to the attack. */
  readonly statuses?: readonly number[];
  /** 2xx responses to the attack. */
  readonly successesPerSecond?: number;
  /** Maximum difference of 2xx responses between two callers, since callers take turns. */
  readonly spread?: number;
  /** The slowest valid login of the attack. */
  readonly loginSeconds?: number;
  /** After the clients have disconnected, no statement of the attack may run longer than this. */
  readonly quietSeconds?: number;
}

export interface Scene {
  readonly name: string;
  readonly promises: Promises;
  /** The attack, which runs in a separate process. It ends when all clients have disconnected. */
  readonly attack: (attack: Attack) => Promise<unknown>;
}
