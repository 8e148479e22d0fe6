import { ServiceError } from '../errors/service-error';
import { type EndSignal } from './request-end';

/** A task that needs permits. */
export interface Waiter {
  /** Tasks with the same key queue behind each other; keys take turns. Usually `ticket.caller`. */
  readonly key: string;
  /** Aborts the wait. */
  readonly signal?: EndSignal;
}

export interface SlotsOptions {
  /** Total number of permits; Infinity if only the limit per key applies. */
  readonly permits: number;
  /** Maximum permits of one key. Default: all. */
  readonly perCaller?: number;
  /** Share of all permits, and of a key's permits, that is reserved for {@link Slots.takeNow}. Default: 0. */
  readonly reserved?: number;
  /** A task that waits longer is refused with `busyMessage`. */
  readonly longestWaitMilliseconds: number;
  /** Maximum number of waiting tasks: beyond it, the last task of the longest queue is refused. Default: no maximum. */
  readonly mostWaiting?: number;
  readonly busyMessage: string;
  /** Number of permits. Default: 1. */
  readonly retryAfterSeconds?: number;
}

/** Permits held by a task. */
export interface Held {
  /** Releases all but `weight` permits. */
  readonly shrinkTo: (weight: number) => void;
  /** Releases all permits; a second call does nothing. */
  readonly release: () => void;
}

interface Waiting extends Waiter {
  readonly weight: number;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * The keyed semaphore of this server. Keys take turns, so a caller with many tasks delays only its own tasks (fair
 * queuing, RFC 970). A task takes one permit, or as many as it requests: bytes can be permits too.
 */
export class Slots {
  private readonly options: Required<SlotsOptions>;
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** Queues by key, never empty; the first one is served next. */
  private readonly queues = new Map<string, Set<Waiting>>();
  private queued = 0;

  constructor(options: SlotsOptions) {
    this.options = { perCaller: options.permits, reserved: 0, mostWaiting: Infinity, retryAfterSeconds: 1, ...options };
  }

  /** At most `permits` tasks of one key run at a time. Any number may wait, for any time. */
  static perKey(permits: number): Slots {
    return new Slots({ permits: Infinity, perCaller: permits, longestWaitMilliseconds: Infinity, busyMessage: '' });
  }

  /** Number of waiting tasks. */
  get waiting(): number {
    return this.queued;
  }

  /** Number of permits in use. */
  get inUse(): number {
    return this.taken;
  }

  /**
   * @throws ServiceError 'busy' after the longest wait, or if too many tasks wait; the reason of the signal if it
   * aborts
   * @throws ServiceError 'busy' after the longest wait, or when too many wait; the reason of the signal when that
   * aborts
   */
  async run<T>(waiter: Waiter, task: () => Promise<T>): Promise<T> {
    await this.takeOnly(waiter, 1);
    try {
      return await task();
    } finally {
      this.add(waiter.key, -1);
      this.beginNext();
    }
  }

  /**
   * Waits for permits. A request for more than a key can have is reduced to that maximum.
   * @throws as {@link run}
   */
  async take(waiter: Waiter, weight = 1): Promise<Held> {
    const { permits, perCaller } = this.options;
    const least = Math.min(weight, this.partOf(permits), this.partOf(perCaller));
    await this.takeOnly(waiter, least);
    return this.heldBy(waiter.key, least);
  }

  /**
   * Takes free permits, including reserved ones, without waiting.
   * @throws ServiceError 'busy'
   */
  takeNow(key: string, weight: number): Held {
    const { permits, perCaller } = this.options;
    if (this.takenOf(key) + weight > perCaller || this.taken + weight > permits) throw this.busy();
    this.add(key, weight);
    return this.heldBy(key, weight);
  }

  private takeOnly({ key, signal }: Waiter, weight: number): Promise<void> | undefined {
    signal?.throwIfAborted();
    // A task that needs few permits must not overtake an earlier one that needs more.
    if (this.queues.size > 0 || !this.fitsShare(key, weight) || !this.fits(weight))
      return this.queue(key, signal, weight);
    this.add(key, weight);
    return undefined;
  }

  /** The permits without those reserved for {@link takeNow}. */
  private partOf(permits: number): number {
    return permits * (1 - this.options.reserved);
  }

  private fits(weight: number): boolean {
    return this.taken + weight <= this.partOf(this.options.permits);
  }

  private fitsShare(key: string, weight: number): boolean {
    return this.takenOf(key) + weight <= this.partOf(this.options.perCaller);
  }

  private takenOf(key: string): number {
    return this.takenBy.get(key) ?? 0;
  }

  private add(key: string, weight: number): void {
    const taken = this.takenOf(key) + weight;
    this.taken += weight;
    if (taken > 0) this.takenBy.set(key, taken);
    else this.takenBy.delete(key);
  }

  private heldBy(key: string, weight: number): Held {
    let held = weight;
    const shrinkTo = (least: number): void => {
      if (least >= held) return;
      this.add(key, least - held);
      held = least;
      this.beginNext();
    };
    return {
      shrinkTo,
      release: () => {
        shrinkTo(0);
      },
    };
  }

  private async queue(key: string, signal: EndSignal | undefined, weight: number): Promise<void> {
    this.makeRoom(key);
    const { longestWaitMilliseconds } = this.options;
    let timer: NodeJS.Timeout | undefined;
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((begin, refuse) => {
        const waiting: Waiting = { key, weight, begin, refuse };
        this.enqueue(waiting);
        leave = () => {
          if (this.dequeue(waiting)) this.beginNext();
          refuse(signal?.aborted === true ? (signal.reason as Error) : this.busy());
        };
        signal?.addEventListener('abort', leave);
        if (longestWaitMilliseconds < Infinity) timer = setTimeout(leave, longestWaitMilliseconds).unref();
        this.beginNext();
      });
    } finally {
      clearTimeout(timer);
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
    }
  }

  private enqueue(waiting: Waiting): void {
    const queue = this.queues.get(waiting.key) ?? new Set();
    this.queues.set(waiting.key, queue.add(waiting));
    this.queued++;
  }

  private dequeue(waiting: Waiting): boolean {
    const queue = this.queues.get(waiting.key);
    if (queue?.delete(waiting) !== true) return false;
    this.queued--;
    if (queue.size === 0) this.queues.delete(waiting.key);
    return true;
  }

  /**
   * Starts the tasks that have room, in turns by key. A task that waits for the limit of its key blocks no other key.
   */
  private beginNext(): void {
    for (const [key, queue] of this.queues) {
      const [next] = queue;
      if (next === undefined || !this.fitsShare(key, next.weight)) continue;
      if (!this.fits(next.weight)) return;
      this.queues.delete(key);
      // The key moves behind the others, and this loop visits it once more.
      if (queue.size > 1) this.queues.set(key, queue);
      queue.delete(next);
      this.queued--;
      this.add(key, next.weight);
      next.begin();
    }
  }

  /** Refuses the last task of the longest queue, unless it is the queue of the new task's key. */
  private makeRoom(key: string): void {
    if (this.queued < this.options.mostWaiting) return;
    const longest = [...this.queues.values()].reduce<ReadonlySet<Waiting>>(
      (one, other) => (other.size > one.size ? other : one),
      new Set(),
    );
    const last = [...longest].at(-1);
    if (last === undefined || longest.size <= (this.queues.get(key)?.size ?? 0) + 1) throw this.busy();
    this.dequeue(last);
    last.refuse(this.busy());
  }

  private busy(): ServiceError {
    const { busyMessage, retryAfterSeconds } = this.options;
    return new ServiceError('busy', busyMessage, { retryAfterSeconds });
  }
}
