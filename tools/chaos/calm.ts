import { setTimeout as delay } from 'node:timers/promises';

/** A phase without other writers: while it is on, they pause and no process is killed. */
export class Calm {
  isOn = false;

  /** Resolves when the phase is over. */
  async over(): Promise<void> {
    while (this.isOn) await delay(20);
  }
}
