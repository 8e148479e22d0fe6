import { SLOW_MILLISECONDS } from './delivery-statements';

/** What takes a slot. */
export interface RunningAttempt {
  /** Whether its destination failed or was slow at its latest attempt, or had none yet. */
  readonly isSuspect: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number;
}

/** In which lanes a destination may begin now. */
export interface Lanes {
  readonly healthy: boolean;
  readonly suspect: boolean;
}

/**
 * Suspect destinations have a quarter of the slots, so that hosts that hang leave the rest to healthy ones. A healthy one
 * that is slow this time gives its slot up; as many of these as there are slots are borne, as each keeps a batch in
 * memory. Each lane has at least one slot.
 */
export function freeLanes(slots: number, running: readonly RunningAttempt[], now: number): Lanes {
  const suspectSlots = Math.max(1, Math.floor(slots / 4));
  const healthySlots = Math.max(1, slots - suspectSlots);
  const healthy = running.filter(({ isSuspect }) => !isSuspect);
  const quick = healthy.filter(({ startedAt }) => now - startedAt < SLOW_MILLISECONDS);
  return {
    healthy: quick.length < healthySlots && healthy.length < healthySlots + slots,
    suspect: running.length - healthy.length < suspectSlots,
  };
}
