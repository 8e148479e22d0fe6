interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

/** At most `limit` tasks of one key run at a time; the others of that key queue, first in, first out. */
export class KeyedSemaphore {
  private readonly queues = new Map<string, Queue>();

  /** @param full makes what is thrown when `mostWaiting` tasks of a key wait already */
  constructor(
    private readonly limit: number,
    private readonly mostWaiting = Infinity,
    private readonly full = () => new Error('Too many tasks wait'),
  ) {}

  /** @throws what `full` makes when the queue of the key is full */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(key) ?? { running: 0, waiting: [] };
    this.queues.set(key, queue);
    if (queue.running < this.limit) queue.running++;
    else if (queue.waiting.length < this.mostWaiting) await new Promise<void>((resolve) => queue.waiting.push(resolve));
    else throw this.full();
    try {
      return await task();
    } finally {
      // The task that ends passes its permit on, so that no other can come between.
      const next = queue.waiting.shift();
      if (next !== undefined) next();
      else if (--queue.running === 0) this.queues.delete(key);
    }
  }
}
