import { connectionsArrive, quietTurn } from './quiet-turn';
import { Slots, type Waiter } from './slots';

/**
 * Lets only so many tasks begin in one turn of the event loop. Many short tasks in one turn delay all other work as
 * much as one long task.
 */
export class TurnPace {
  private readonly queue: Slots;
  private begun = 0;

  constructor(private readonly perTurn: number) {
    this.queue = new Slots({ permits: perTurn });
  }

  /**
   * Waits for a turn in which the task may begin, and in which no connection arrives.
   * @param waiterOf called only if the task must wait
   * @returns undefined if the task may begin at once
   */
  turnFor(waiterOf: () => Waiter): Promise<void> | undefined {
    if (this.queue.waiting > 0 || this.begun >= this.perTurn || connectionsArrive())
      return this.queue.run(waiterOf(), quietTurn);
    if (this.begun++ === 0)
      setImmediate(() => {
        this.begun = 0;
      });
    return undefined;
  }
}
