import { Injectable } from '@nestjs/common';
import { putNewest } from '../memoized';

/** Work that takes longer than this counts as slow. Most work takes a hundredth of it. */
const SLOW_MILLISECONDS = 5;

/**
 * Limits of slow work, for one definition of a caller (such as a criterion) and for all together: the share of the
 * process's time, and the time that may be used at once. The second limit exists so that an occasional pause of the
 * process does not count as a fault.
 */
const OF_ONE = { share: 0.01, atOnceMilliseconds: 100 };
const OF_ALL = { share: 0.1, atOnceMilliseconds: 1_000 };

/** Beyond this number of slow definitions, the oldest is dropped. */
const MAX_KNOWN = 10_000;

/**
 * Limits the CPU time of synchronous work that depends on definitions of callers (criteria of topics, constraints of
 * profiles). All slow work together may use at most a tenth of the process's time.
 */
@Injectable()
export class CpuBudget {
  private readonly ofOne = new Map<unknown, Debt>();
  private readonly ofAll = new Debt(OF_ALL);
  /**
   * A monotonic clock, in milliseconds; specs replace it. If the wall clock was set back by an hour, it would keep all
   * slow work waiting for that hour.
   */
  nowMs = (): number => performance.now();

  /**
   * @param definition the object that identifies the work. Work that took too long is not allowed again for a hundred
   * times as long. Work that was never slow is always allowed, so that slow definitions do not stop others
   */
  allows(definition: unknown): boolean {
    const debt = this.ofOne.get(definition);
    if (debt === undefined) return true;
    const now = this.nowMs();
    return !debt.isOpenAt(now) && !this.ofAll.isOpenAt(now);
  }

  /** Records how long work took that has just run. */
  spend(definition: unknown, milliseconds: number): void {
    if (milliseconds <= SLOW_MILLISECONDS) return;
    const debt = this.ofOne.get(definition) ?? new Debt(OF_ONE);
    putNewest(this.ofOne, definition, debt, MAX_KNOWN);
    const now = this.nowMs();
    for (const one of [debt, this.ofAll]) one.add(milliseconds, now);
  }
}

/** Used time, which decreases with the time that passes. */
class Debt {
  private milliseconds = 0;
  private at = 0;

  constructor(private readonly limit: typeof OF_ONE) {}

  /** Whether more time was used than may be used at once. */
  isOpenAt(now: number): boolean {
    return this.leftAt(now) > this.limit.atOnceMilliseconds;
  }

  add(milliseconds: number, now: number): void {
    this.milliseconds = this.leftAt(now) + milliseconds;
    this.at = now;
  }

  private leftAt(now: number): number {
    return Math.max(0, this.milliseconds - (now - this.at) * this.limit.share);
  }
}
