import { setTimeout as delay } from 'node:timers/promises';

/** While it is on, other writers pause and nothing is killed. */
export class Calm {
  isOn = false;

  /** Resolves when it is off. */
  async over(): Promise<void> {
    while (this.isOn) await delay(20);
  }
}
