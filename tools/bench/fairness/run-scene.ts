import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client } from 'pg';
import { HttpClient } from '../../http-client';
import { type LoadClient } from '../load-client';
import { readUntil } from '../paced-reads';
import { type ResidentMemory, measureMemory } from '../resident-memory';
import { type AttackOrder, type AttackResult } from './attack';
import { secondsUntilQuiet } from './quiet-time';
import { type Scene } from './scene';

/** The pause between two logins of other callers, which log in one after another. */
const LOGIN_PAUSE_MILLISECONDS = 1_000;

const ALONE_SECONDS = 5;

/** The participants of a scene. */
export interface Stage {
  readonly serverPid: number;
  readonly attacker: ChildProcess;
  readonly reader: LoadClient;
  /** Reads from the baseline, which nobody attacks, on the same PostgreSQL. */
  readonly baselineReader: LoadClient;
  readonly database: Client;
  readonly order: Omit<AttackOrder, 'scene'>;
}

export interface SceneFigures {
  readonly scene: Scene;
  readonly attack: AttackResult;
  readonly memory: ResidentMemory;
  /** Milliseconds of reads before the attack (`alone`), and of other callers' reads during it (`reads`). */
  readonly alone: readonly number[];
  readonly reads: readonly number[];
  /** Milliseconds of reads from the baseline during the attack: what the busy machine alone costs. */
  readonly baselineReads: readonly number[];
  /** Seconds of other callers' logins; Infinity for a failed one. */
  readonly logins: readonly number[];
  /** Seconds from the disconnection of the attackers to the last statement seen in the database. */
  readonly quietSeconds: number;
}

/** Runs one scene, and measures the server's resources and the latencies of other callers meanwhile. */
export async function runScene(scene: Scene, stage: Stage): Promise<SceneFigures> {
  const { attacker, order, reader, baselineReader, database } = stage;
  // The first seconds compile code and fill caches.
  const begun = delay(ALONE_SECONDS * 1_000);
  await Promise.all([readUntil(reader, begun), readUntil(baselineReader, begun)]);
  const alone = await readUntil(reader, delay(ALONE_SECONDS * 1_000));
  const { result, memory } = await measureMemory(stage.serverPid, async () => {
    attacker.send({ ...order, scene: scene.name });
    const attacking = once(attacker, 'message').then(([sent]) => sent as AttackResult);
    const quiet = attacking.then(() => secondsUntilQuiet(database));
    const [reads, baselineReads, logins] = await Promise.all([
      readUntil(reader, attacking),
      readUntil(baselineReader, attacking),
      logInUntil(order, attacking),
    ]);
    return { attack: await attacking, reads, baselineReads, logins, quietSeconds: await quiet };
  });
  return { scene, memory, alone, ...result };
}

async function logInUntil({ url, login }: Stage['order'], end: Promise<unknown>): Promise<readonly number[]> {
  const client = new HttpClient(url);
  const over = new AbortController();
  void end.then(() => {
    over.abort();
  });
  const seconds: number[] = [];
  while (!over.signal.aborted) {
    const startedAt = performance.now();
    const { status } = await client.send({ method: 'POST', path: '/auth/token', body: { form: login } });
    seconds.push(status === 200 ? (performance.now() - startedAt) / 1_000 : Number.POSITIVE_INFINITY);
    await delay(LOGIN_PAUSE_MILLISECONDS);
  }
  return seconds;
}
