import { setTimeout as delay } from 'node:timers/promises';
import { childrenOf } from '../bench/cpu-time';
import { type Random } from '../chart/random';
import { type Calm } from './calm';
import { type ChaosBed, type Replica } from './chaos-bed';
import { type FaultLog } from './fault-log';
import { type FaultyReceiver } from './faulty-receiver';

/**
 * Ranges of the life of a server before it is killed. Short lives hit servers during their start, long ones during full
 * load.
 */
const LIVES_MILLISECONDS: readonly (readonly [number, number])[] = [
  [500, 2500],
  [3000, 20_000],
];
const DATABASE_LIFE_MILLISECONDS = [15_000, 40_000] as const;

/** Repeatedly ends and restarts one replica. */
export async function tormentReplica(
  replica: Replica,
  signal: AbortSignal,
  {
    bed,
    random,
    receiver,
    calm,
    log,
  }: { bed: ChaosBed; random: Random; receiver: FaultyReceiver; calm: Calm; log: FaultLog },
): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await delay(random.integer(...random.pick(LIVES_MILLISECONDS)), undefined, { signal }).catch(() => undefined);
    await calm.over();
    const { server } = replica;
    if (server === undefined || isOver()) return;
    const at = performance.now();
    const chance = random.fraction();
    if (chance < 0.05) {
      log.addCrash('connections cut', at);
      await bed.query(CUT).catch(() => undefined);
      continue;
    }
    const processes = await childrenOf(server.pid);
    const isGentle = chance < 0.1;
    if (!isGentle && processes.length > 0 && random.fraction() < 0.5) {
      const killed = random.pick(processes);
      const crash = log.addCrash('process killed', at);
      kill(killed);
      await ended([killed]);
      crash.endedAt = performance.now();
      continue; // the server starts a new serving process
    }
    const pending = receiver.pending;
    replica.server = undefined;
    if (!kill(server.pid, isGentle ? 'SIGTERM' : 'SIGKILL')) {
      log.exits++;
      await server.stop();
    } else {
      const crash = log.addCrash(isGentle ? 'SIGTERM' : 'kill -9', at);
      if (!isGentle) watchTakeovers(pending, at, { bed, receiver, log });
      await server.stop();
      await ended(processes);
      crash.endedAt = performance.now();
    }
    await startAgain(replica, bed);
  }
}

/**
 * Kills one backend again and again (kill -9). That crashes the database: all sessions end, and the WAL is replayed.
 */
export async function tormentDatabase(
  signal: AbortSignal,
  { bed, random, calm, log }: { bed: ChaosBed; random: Random; calm: Calm; log: FaultLog },
): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await delay(random.integer(...DATABASE_LIFE_MILLISECONDS), undefined, { signal }).catch(() => undefined);
    await calm.over();
    if (isOver()) return;
    const [backend] = await bed.query<{ pid: number }>(ANY_BACKEND).catch(() => []);
    if (backend === undefined) continue;
    const at = performance.now();
    if (!kill(backend.pid)) continue; // the backend has already ended
    const crash = log.addCrash('database crash', at);
    for (let isUp = false; !isUp;) {
      await delay(20);
      isUp = await bed.query('select 1').then(
        () => true,
        () => false,
      );
    }
    crash.endedAt = performance.now();
    log.databaseRestarts.push(crash.endedAt - at);
  }
}

const CUT = `select pg_terminate_backend(pid) from (
  select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3) some`;
const ANY_BACKEND = `select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`;

/** Measures takeovers while the other server is alive; otherwise this would measure a start. */
function watchTakeovers(
  pending: readonly string[],
  killedAt: number,
  { bed, receiver, log }: { bed: ChaosBed; receiver: FaultyReceiver; log: FaultLog },
): void {
  const survivor = bed.replicas.find(({ server }) => server !== undefined);
  const { server } = survivor ?? {};
  if (survivor === undefined || server === undefined) return;
  for (const destination of pending) {
    void (async () => {
      await delay(15);
      // A request that still waits for a response belongs to the other server, not to the killed one.
      if (receiver.pending.includes(destination)) return;
      const nextAt = await receiver.nextAt(destination, killedAt);
      const isDisturbed =
        survivor.server !== server ||
        log.crashes.some(({ kind, at }) => at > killedAt && at < nextAt && kind !== 'kill -9');
      if (!isDisturbed) log.takeovers.push(nextAt - killedAt);
    })();
  }
}

async function startAgain(replica: Replica, bed: ChaosBed): Promise<void> {
  for (;;) {
    try {
      await bed.start(replica);
      return;
    } catch {
      await delay(200); // the database was down
    }
  }
}

async function ended(pids: readonly number[]): Promise<void> {
  while (pids.some((pid) => kill(pid, 0))) await delay(5);
}

/** Sends the signal; false if the process had already ended. */
function kill(pid: number, signal: 'SIGKILL' | 'SIGTERM' | 0 = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
