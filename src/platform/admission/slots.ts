import { ServiceError } from '../errors/service-error';
import { type EndSignal } from './request-end';

/** A task that needs permits, such as the ticket of a request. */
export interface Waiter {
  /**
   * Tasks of the same caller queue behind each other, and the queues of the callers are served in turn. Work that has
   * no ticket uses any text that says whose tasks share a queue.
   */
  readonly caller: string;
  /** When it aborts, the task stops waiting. */
  readonly signal?: EndSignal;
}

export interface SlotsOptions {
  /** For all callers together; Infinity if only the limit per caller applies. */
  readonly permits: number;
  /** Maximum number of permits of one caller. Default: all. */
  readonly perCaller?: number;
  /** The share of all permits, and of those of a caller, that only {@link Slots.takeNow} may take. Default: 0. */
  readonly reserved?: number;
  /** A task that waits longer is refused. Default: Infinity. */
  readonly longestWaitMilliseconds?: number;
  /** Maximum number of waiting tasks. Beyond it, the last task of the longest queue is refused. Default: no maximum. */
  readonly mostWaiting?: number;
  /** The message of a refusal. */
  readonly busyMessage?: string;
  /** Default: 1. */
  readonly retryAfterSeconds?: number;
}

/**
 * Returns the permits for work that holds a database connection for long, so that it never delays all other requests.
 * @param ofAll the share of the connections that all callers together may hold
 * @param ofOne the share of the connections that one caller may hold
 */
export const permitsOf = (
  connections: number,
  ofAll: number,
  ofOne: number,
): Required<Pick<SlotsOptions, 'permits' | 'perCaller'>> => ({
  permits: Math.max(1, Math.floor(connections * ofAll)),
  perCaller: Math.max(1, Math.floor(connections * ofOne)),
});

export interface Held {
  /** Releases permits until the task has only `weight` permits left. */
  readonly shrinkTo: (weight: number) => void;
  /** Releases all permits. A second call does nothing. */
  readonly release: () => void;
}

interface Waiting extends Waiter {
  readonly weight: number;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * The keyed semaphore of this server. The queues of the callers are served in turn, so a caller with many tasks delays
 * only its own tasks (fair queuing, RFC 970). A task takes one permit, or as many as it requests. A permit can also
 * stand for a byte of memory.
 */
export class Slots {
  private readonly options: Required<SlotsOptions>;
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** The queues of waiting tasks by caller, none of them empty. The first queue is served next. */
  private readonly queues = new Map<string, Set<Waiting>>();
  private queued = 0;

  constructor(options: SlotsOptions) {
    const unlimited = { longestWaitMilliseconds: Infinity, mostWaiting: Infinity, busyMessage: '' };
    this.options = { ...unlimited, perCaller: options.permits, reserved: 0, retryAfterSeconds: 1, ...options };
  }

  get waiting(): number {
    return this.queued;
  }

  get inUse(): number {
    return this.taken;
  }

  /**
   * Runs `task` with one permit.
   * @throws ServiceError 'busy' after the longest wait, or if too many tasks wait; the reason of the signal if it
   * aborts
   */
  async run<T>(waiter: Waiter, task: () => Promise<T>): Promise<T> {
    const { release } = await this.take(waiter);
    try {
      return await task();
    } finally {
      release();
    }
  }

  /**
   * Waits for permits: `weight` of them, or as many as a caller can get.
   * @throws as {@link run}
   */
  async take({ caller, signal }: Waiter, weight = 1): Promise<Held> {
    signal?.throwIfAborted();
    const { permits, perCaller } = this.options;
    const least = Math.min(weight, this.partOf(permits), this.partOf(perCaller));
    // If another task waits, this task waits too: a task that needs few permits must not overtake an earlier task that
    // needs more.
    if (this.queues.size > 0 || !this.fitsShare(caller, least) || !this.fits(least))
      await this.queue(caller, signal, least);
    else this.add(caller, least);
    return this.heldBy(caller, least);
  }

  /**
   * Takes free permits, including reserved ones, without waiting.
   * @throws ServiceError 'busy'
   */
  takeNow(caller: string, weight: number): Held {
    const { permits, perCaller } = this.options;
    if (this.takenOf(caller) + weight > perCaller || this.taken + weight > permits) throw this.busy();
    this.add(caller, weight);
    return this.heldBy(caller, weight);
  }

  /** The permits that are not reserved for {@link takeNow}. */
  private partOf(permits: number): number {
    return permits * (1 - this.options.reserved);
  }

  private fits(weight: number): boolean {
    return this.taken + weight <= this.partOf(this.options.permits);
  }

  private fitsShare(caller: string, weight: number): boolean {
    return this.takenOf(caller) + weight <= this.partOf(this.options.perCaller);
  }

  private takenOf(caller: string): number {
    return this.takenBy.get(caller) ?? 0;
  }

  private add(caller: string, weight: number): void {
    const taken = this.takenOf(caller) + weight;
    this.taken += weight;
    if (taken > 0) this.takenBy.set(caller, taken);
    else this.takenBy.delete(caller);
  }

  private heldBy(caller: string, weight: number): Held {
    let held = weight;
    const shrinkTo = (least: number): void => {
      if (least >= held) return;
      this.add(caller, least - held);
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

  private async queue(caller: string, signal: EndSignal | undefined, weight: number): Promise<void> {
    this.makeRoom(caller);
    const { longestWaitMilliseconds } = this.options;
    let timer: NodeJS.Timeout | undefined;
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((begin, refuse) => {
        const waiting: Waiting = { caller, weight, begin, refuse };
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
    const queue = this.queues.get(waiting.caller) ?? new Set();
    this.queues.set(waiting.caller, queue.add(waiting));
    this.queued++;
  }

  private dequeue(waiting: Waiting): boolean {
    const queue = this.queues.get(waiting.caller);
    if (queue?.delete(waiting) !== true) return false;
    this.queued--;
    if (queue.size === 0) this.queues.delete(waiting.caller);
    return true;
  }

  /**
   * Gives free permits to waiting tasks, one caller after the other. A task that waits because of the limit of its
   * caller does not block other callers.
   */
  private beginNext(): void {
    for (const [caller, queue] of this.queues) {
      const [next] = queue;
      if (next === undefined || !this.fitsShare(caller, next.weight)) continue;
      if (!this.fits(next.weight)) return;
      this.queues.delete(caller);
      // The caller moves behind the others, so this loop visits it once more.
      if (queue.size > 1) this.queues.set(caller, queue);
      queue.delete(next);
      this.queued--;
      this.add(caller, next.weight);
      next.begin();
    }
  }

  /**
   * If too many tasks wait, refuses the last task of the longest queue. If the longest queue is that of the new task's
   * caller, the new task is refused instead.
   */
  private makeRoom(caller: string): void {
    if (this.queued < this.options.mostWaiting) return;
    const longest = [...this.queues.values()].reduce<ReadonlySet<Waiting>>(
      (one, other) => (other.size > one.size ? other : one),
      new Set(),
    );
    const last = [...longest].at(-1);
    if (last === undefined || longest.size <= (this.queues.get(caller)?.size ?? 0) + 1) throw this.busy();
    this.dequeue(last);
    last.refuse(this.busy());
  }

  private busy(): ServiceError {
    const { busyMessage, retryAfterSeconds } = this.options;
    return new ServiceError('busy', busyMessage, { retryAfterSeconds });
  }
}
