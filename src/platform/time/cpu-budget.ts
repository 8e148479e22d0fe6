import { Injectable } from '@nestjs/common';
import { Clock } from './clock';

/** Longer work counts as slow; most takes a hundredth of this. */
const SLOW_MILLISECONDS = 5;

/**
 * The share of the process's time that slow work may use, and the amount that it may use at once, so that an occasional
 * pause of the process is no fault.
 */
const OF_ONE = { share: 0.01, atOnceMilliseconds: 100 };
const OF_ALL = { share: 0.1, atOnceMilliseconds: 1_000 };

/** Maximum number of remembered slow definitions; beyond it, the oldest is forgotten. */
const MAX_KNOWN = 10_000;

/**
 * Limits the CPU time of synchronous work that depends on callers' definitions (criteria of topics, constraints of
 * profiles). All slow work together leaves nine tenths of the process's time to other work.
 */
@Injectable()
export class CpuBudget {
  private readonly ofOne = new Map<unknown, Debt>();
  private readonly ofAll = new Debt(OF_ALL);

  constructor(private readonly clock: Clock) {}

  /**
   * @param definition identifies the work. After it took too long, it is paused for a hundred times as long. One that
   * was never slow is always allowed, so that slow definitions do not stop others.
   */
  allows(definition: unknown): boolean {
    const debt = this.ofOne.get(definition);
    if (debt === undefined) return true;
    const now = this.now();
    return !debt.isOpenAt(now) && !this.ofAll.isOpenAt(now);
  }

  /** Records work that has just run. */
  spend(definition: unknown, milliseconds: number): void {
    if (milliseconds <= SLOW_MILLISECONDS) return;
    const debt = this.ofOne.get(definition) ?? new Debt(OF_ONE);
    if (this.ofOne.size >= MAX_KNOWN) this.ofOne.delete(this.ofOne.keys().next().value);
    this.ofOne.set(definition, debt);
    const now = this.now();
    for (const one of [debt, this.ofAll]) one.add(milliseconds, now);
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** Used time, which decreases while waiting. */
class Debt {
  private milliseconds = 0;
  private at = 0;

  constructor(private readonly limit: typeof OF_ONE) {}

  /** Whether more was used than is allowed at once. */
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
