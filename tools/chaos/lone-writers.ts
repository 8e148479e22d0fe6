import { setTimeout as delay } from 'node:timers/promises';
import { type Random } from '../chart/random';
import { type Calm } from './calm';
import { type ChaosBed } from './chaos-bed';
import { type WriteLog, putPatient } from './writers';

const BETWEEN_MILLISECONDS = [12_000, 25_000] as const;
const HOLD_MILLISECONDS = [1000, 3000] as const;
const SETTLING_MILLISECONDS = 2500;
const WRITES = 2;

/**
 * The SQL that skips event numbers, as a large transaction does that is rolled back. The low-water mark can then rise:
 * it rises only in steps of at least 1,000 numbers.
 */
const ROLLED_BACK = `select count(nextval(oid::regclass)) from pg_class, generate_series(1, 1500)
  where relkind = 'S' and relname like 'outbox\\_event%'`;
const ROLLED_BACK_MILLISECONDS = [500, 4000] as const;

/** Takes numbers that no event ever gets. */
export async function wasteNumbers(signal: AbortSignal, bed: ChaosBed, random: Random): Promise<void> {
  while (!signal.aborted) {
    await delay(random.integer(...ROLLED_BACK_MILLISECONDS));
    await bed.query(ROLLED_BACK).catch(() => undefined);
  }
}

/** Now and then pauses all other writers, waits until they rest, and then writes alone, with a slow commit. */
export async function writeAlone(
  signal: AbortSignal,
  { bed, random, calm, log }: { bed: ChaosBed; random: Random; calm: Calm; log: WriteLog },
): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await delay(random.integer(...BETWEEN_MILLISECONDS), undefined, { signal }).catch(() => undefined);
    if (isOver()) return;
    calm.isOn = true;
    await delay(SETTLING_MILLISECONDS);
    for (let round = 0; round < WRITES; round++) {
      const running = bed.replicas.filter(({ server }) => server !== undefined);
      if (running.length === 0) break;
      const { faults, server } = random.pick(running);
      faults.holdNextWriter(random.integer(...HOLD_MILLISECONDS));
      const target = { url: server?.url ?? '', authorization: bed.authorization, round: log.nextValue() };
      await putPatient(target, `lone${random.integer(1, 5)}`, log).catch(() => log.unknown++);
    }
    calm.isOn = false;
  }
}
