import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/time/clock';

/** Work of users that takes longer is slow: most takes a hundredth of this. */
const SLOW_MILLISECONDS = 5;

/** What slow work may take of the time of the process, and how much at once: a pause of the process now and then is no one's fault. */
const OF_ONE = { share: 0.01, atOnceMilliseconds: 100 };
const OF_ALL = { share: 0.1, atOnceMilliseconds: 1_000 };

/** Runs synchronous work that users can make slow, so that all of it together leaves the process nine tenths of its time. */
@Injectable()
export class SlowWork {
  private readonly ofOne = new WeakMap<object, Debt>();
  private readonly ofAll = new Debt(OF_ALL);

  constructor(private readonly clock: Clock) {}

  /**
   * @param kind what the work is remembered by: once it took too much, it waits until a hundred times as long is over
   * @returns undefined without having run, while it waits
   */
  run<T>(kind: object, work: () => T): T | undefined {
    const startsAt = this.clock.now().getTime();
    const known = this.ofOne.get(kind);
    if (known?.isOpenAt(startsAt) === true || this.ofAll.isOpenAt(startsAt)) return undefined;
    try {
      return work();
    } finally {
      const endsAt = this.clock.now().getTime();
      if (endsAt - startsAt > SLOW_MILLISECONDS) {
        const debt = known ?? new Debt(OF_ONE);
        this.ofOne.set(kind, debt);
        for (const one of [debt, this.ofAll]) one.add(endsAt - startsAt, endsAt);
      }
    }
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
