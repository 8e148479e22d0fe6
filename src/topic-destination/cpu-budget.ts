import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/time/clock';

/** Work that takes longer is slow: most takes a hundredth of this. */
const SLOW_MILLISECONDS = 5;

/** The share of the process's time that slow work may take, and how much at once: a pause of the process now and then is no one's fault. */
const OF_ONE = { share: 0.01, atOnceMilliseconds: 100 };
const OF_ALL = { share: 0.1, atOnceMilliseconds: 1_000 };

/** The CPU time of synchronous work that users can make slow: all of it together leaves the process nine tenths of its time. */
@Injectable()
export class CpuBudget {
  private readonly ofOne = new WeakMap<object, Debt>();
  private readonly ofAll = new Debt(OF_ALL);

  constructor(private readonly clock: Clock) {}

  /** Milliseconds since 1970, as {@link CpuBudget.spend} wants them. */
  now(): number {
    return this.clock.now().getTime();
  }

  /** @param kind what the work is remembered by: once it took too much, it waits until a hundred times as long is over */
  allows(kind: object): boolean {
    const now = this.now();
    return this.ofOne.get(kind)?.isOpenAt(now) !== true && !this.ofAll.isOpenAt(now);
  }

  /** Notes work that has been run since a time. */
  spend(kind: object, since: number): void {
    const now = this.now();
    if (now - since <= SLOW_MILLISECONDS) return;
    const debt = this.ofOne.get(kind) ?? new Debt(OF_ONE);
    this.ofOne.set(kind, debt);
    for (const one of [debt, this.ofAll]) one.add(now - since, now);
  }
}

/** Time that was taken, and is paid back by waiting. */
class Debt {
  private milliseconds = 0;
  private at = 0;

  constructor(private readonly limit: typeof OF_ONE) {}

  /** Whether more was taken than is allowed at once. */
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
