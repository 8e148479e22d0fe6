import { ServiceError } from '../errors/service-error';
import { type EndSignal } from './request-end';

/** A task that wants permits. */
export interface Waiter {
  /** Tasks of one key queue behind each other; keys take turns. Usually `ticket.caller`. */
  readonly key: string;
  /** Ends the wait. */
  readonly signal?: EndSignal;
}

export interface SlotsOptions {
  /** Permits altogether; Infinity where only the limit of a key counts. */
  readonly permits: number;
  /** The most permits of one key. Default: all of them. */
  readonly perCaller?: number;
  /** Part of all permits, and of those of a key, that only {@link Slots.takeNow} takes. Default: 0. */
  readonly reserved?: number;
  /** A longer wait ends with `busyMessage`. */
  readonly longestWaitMilliseconds: number;
  /** Above it the last task of the longest queue is refused. Default: any number may wait. */
  readonly mostWaiting?: number;
  readonly busyMessage: string;
  /** Default: 1. */
  readonly retryAfterSeconds?: number;
}

/** Permits that were taken. */
export interface Held {
  /** Gives back all but `weight` permits. */
  readonly shrinkTo: (weight: number) => void;
  /** Gives back all permits; again does nothing. */
  readonly release: () => void;
}

interface Waiting extends Waiter {
  readonly weight: number;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * The semaphore of this server. Keys take turns, so a caller with many tasks delays its own tasks only (fair queuing,
 * RFC 970). A task takes one permit, or as many as it says: bytes are permits too.
 */
export class Slots {
  private readonly options: Required<SlotsOptions>;
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** By key; the first queue is the next one's. No queue is empty. */
  private readonly queues = new Map<string, Set<Waiting>>();
  private queued = 0;

  constructor(options: SlotsOptions) {
    this.options = { perCaller: options.permits, reserved: 0, mostWaiting: Infinity, retryAfterSeconds: 1, ...options };
  }

  /** At most `permits` tasks of one key at a time; any number of them waits, for any time. */
  static perKey(permits: number): Slots {
    return new Slots({ permits: Infinity, perCaller: permits, longestWaitMilliseconds: Infinity, busyMessage: '' });
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.queued;
  }

  /** How many permits are taken. */
  get inUse(): number {
    return this.taken;
  }

  /**
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
   * Waits for permits. More than a key can ever have counts as all that it can have.
   * @throws as {@link run}
   */
  async take(waiter: Waiter, weight = 1): Promise<Held> {
    const { permits, perCaller } = this.options;
    const least = Math.min(weight, this.partOf(permits), this.partOf(perCaller));
    await this.takeOnly(waiter, least);
    return this.heldBy(waiter.key, least);
  }

  /** Takes permits that are free, also reserved ones, without a wait. @throws ServiceError 'busy' */
  takeNow(key: string, weight: number): Held {
    const { permits, perCaller } = this.options;
    if (this.takenOf(key) + weight > perCaller || this.taken + weight > permits) throw this.busy();
    this.add(key, weight);
    return this.heldBy(key, weight);
  }

  private takeOnly({ key, signal }: Waiter, weight: number): Promise<void> | undefined {
    signal?.throwIfAborted();
    // A task that fits must not overtake one that waits for more permits.
    if (this.queues.size > 0 || !this.fitsShare(key, weight) || !this.fits(weight))
      return this.queue(key, signal, weight);
    this.add(key, weight);
    return undefined;
  }

  /** The permits without those that are kept for {@link takeNow}. */
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

  /** Begins the tasks that fit, in turns by key. One that waits for its own share holds up no other key. */
  private beginNext(): void {
    for (const [key, queue] of this.queues) {
      const [next] = queue;
      if (next === undefined || !this.fitsShare(key, next.weight)) continue;
      if (!this.fits(next.weight)) return;
      this.queues.delete(key);
      // The key goes behind the others; this loop visits it once more.
      if (queue.size > 1) this.queues.set(key, queue);
      queue.delete(next);
      this.queued--;
      this.add(key, next.weight);
      next.begin();
    }
  }

  /** Refuses the last task of the longest queue, unless that is the queue of the key that comes. */
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
