import { SLOW_MILLISECONDS } from './delivery-statements';

/** What takes a slot. */
export interface RunningAttempt {
  /** Whether its destination failed or was slow at its latest attempt, or had none yet. */
  readonly isSuspect: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number;
  /** Of the stored resources of its batch: about what it keeps in memory. */
  readonly bytes: number;
}

/** In which lanes a destination may begin now. */
export interface Lanes {
  readonly healthy: boolean;
  readonly suspect: boolean;
}

/** An attempt that has waited so long gives its slot up, as long as there are fewer of these, with fewer bytes. */
interface Patience {
  readonly milliseconds: number;
  readonly attempts: number;
  readonly bytes: number;
}

const OF_HEALTHY: Patience = { milliseconds: 250, attempts: 1000, bytes: 64 * 1024 * 1024 };
/** An attempt that lasts as long leaves its destination suspect, whatever comes of it. */
const OF_SUSPECT: Patience = { milliseconds: SLOW_MILLISECONDS, attempts: 250, bytes: 16 * 1024 * 1024 };

/**
 * Suspect destinations have a quarter of the slots, so that hosts that hang leave the rest to healthy ones. Each lane has
 * at least one. An attempt that only waits gives its slot up: else many receivers that fall silent together would keep all
 * others waiting for as long as their timeouts, and a few would keep new destinations from their first attempt.
 */
export function freeLanes(slots: number, running: readonly RunningAttempt[], now: number): Lanes {
  const suspectSlots = Math.max(1, Math.floor(slots / 4));
  const healthySlots = Math.max(1, slots - suspectSlots);
  const isFree = (ofSuspect: boolean, own: number, patience: Patience): boolean => {
    const attempts = running.filter(({ isSuspect }) => isSuspect === ofSuspect);
    const waiting = attempts.filter(({ startedAt }) => now - startedAt >= patience.milliseconds);
    const isBorne = waiting.length <= own || (waiting.length < patience.attempts && bytesOf(waiting) < patience.bytes);
    return attempts.length - waiting.length < own && isBorne;
  };
  return { healthy: isFree(false, healthySlots, OF_HEALTHY), suspect: isFree(true, suspectSlots, OF_SUSPECT) };
}

const bytesOf = (attempts: readonly RunningAttempt[]): number => attempts.reduce((sum, { bytes }) => sum + bytes, 0);
