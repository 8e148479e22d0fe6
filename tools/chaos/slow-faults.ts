import { setTimeout as delay } from 'node:timers/promises';
import { type Random } from '../chart/random';
import { type FaultKind, type FaultLog } from './fault-log';

type SlowKind = 'answer held' | CommitFault['kind'];

/** A fault of a COMMIT on its way to the database. */
export interface CommitFault {
  readonly kind: 'commit held' | 'prepared';
  readonly milliseconds: number;
}

const HOLD_MILLISECONDS = [500, 3000] as const;
/**
 * The pause between two faults of a kind, for each server. Faults of commits are rarer, since each one stops a writer.
 */
const PAUSE_MILLISECONDS: Readonly<Record<SlowKind, readonly [number, number]>> = {
  'answer held': [200, 1500],
  'commit held': [1000, 4000],
  prepared: [1000, 4000],
};
/** A kind of statement is chosen only if it was sent within this time. */
const RECENT_MILLISECONDS = 3000;
/**
 * The share of delayed commits that belong to writers. The other delayed commits may belong to any transaction, such as
 * a claim.
 */
const SHARE_OF_WRITERS = 0.75;

/** Chooses the responses and commits of one server to delay, and for how long. */
export class SlowFaults {
  /** While false, nothing is delayed. */
  isOn = false;
  private readonly lastSeen = new Map<string, number>();
  private readonly nextAt: Record<SlowKind, number>;
  private target: { readonly statement: string; readonly until: number } | undefined;
  private loneMilliseconds: number | undefined;

  constructor(
    private readonly random: Random,
    private readonly log: FaultLog,
    private readonly enabled: ReadonlySet<FaultKind>,
  ) {
    this.nextAt = {
      'answer held': this.later('answer held'),
      'commit held': this.later('commit held'),
      prepared: this.later('prepared'),
    };
  }

  /** Delays the commit of the next transaction that writes events. */
  holdNextWriter(milliseconds: number): void {
    this.loneMilliseconds = milliseconds;
  }

  /**
   * Returns the delay of the response to a statement. Each statement in use has the same chance, however rarely it is
   * sent. Otherwise a race in a statement that runs once a second would hardly ever occur.
   */
  answerDelay(statement: string): number {
    const now = performance.now();
    this.lastSeen.set(statement, now);
    if (!this.isDue('answer held', now)) return 0;
    if (this.target === undefined || this.target.until < now) {
      const recent = [...this.lastSeen].filter(([, at]) => at > now - RECENT_MILLISECONDS).map(([name]) => name);
      this.target = { statement: this.random.pick(recent), until: now + RECENT_MILLISECONDS };
    }
    if (this.target.statement !== statement) return 0;
    this.target = undefined;
    return this.count('answer held');
  }

  /** Decides on a fault for a COMMIT. @param isWriter whether its transaction has recorded events */
  commitFault(isWriter: boolean): CommitFault | undefined {
    const now = performance.now();
    if (isWriter && this.loneMilliseconds !== undefined) {
      const milliseconds = this.loneMilliseconds;
      this.loneMilliseconds = undefined;
      this.log.add('lone writer');
      return { kind: 'commit held', milliseconds };
    }
    for (const kind of ['prepared', 'commit held'] as const) {
      if (!this.isDue(kind, now)) continue;
      if (isWriter || !this.random.chance(SHARE_OF_WRITERS)) return { kind, milliseconds: this.count(kind) };
    }
    return undefined;
  }

  private isDue(kind: SlowKind, now: number): boolean {
    return this.isOn && this.enabled.has(kind) && now >= this.nextAt[kind];
  }

  private count(kind: SlowKind): number {
    this.nextAt[kind] = this.later(kind);
    this.log.add(kind);
    return this.random.integer(...HOLD_MILLISECONDS);
  }

  private later(kind: SlowKind): number {
    return performance.now() + this.random.integer(...PAUSE_MILLISECONDS[kind]);
  }
}

/** Waits without keeping the process alive. */
export const hold = (milliseconds: number): Promise<void> => delay(milliseconds, undefined, { ref: false });
