import { setTimeout as delay } from 'node:timers/promises';
import { type Random } from '../chart/random';
import { type Calm } from './calm';
import { type ChaosBed } from './chaos-bed';

const HOT_PATIENTS = 40;
const PAUSE_MILLISECONDS = [10, 60] as const;

/** The versions that the servers acknowledged, recorded outside their database. */
export class WriteLog {
  /** A key such as `Patient/p1/3` for each acknowledged version. */
  readonly acknowledged = new Set<string>();
  /**
   * Keys that were acknowledged again, for another write: a failover lost the first one. The version is stored, so only
   * this reveals the loss.
   */
  readonly acknowledgedAgain = new Set<string>();
  /** The number of refused transactions. The names in their resources must never arrive or be stored. */
  refused = 0;
  unknown = 0;
  private values = 0;
  /** The time of the last acknowledgement of each server, by its URL, and the longest gap since {@link watchGaps}. */
  private readonly gaps = new Map<string, { at: number; longest: number }>();

  /** Begins to measure the gaps between acknowledgements of each of these servers. */
  watchGaps(urls: readonly string[]): void {
    for (const url of urls) this.gaps.set(url, { at: performance.now(), longest: 0 });
  }

  /**
   * @returns the longest gap of any server until now, in milliseconds
   */
  get longestGap(): number {
    return Math.max(...[...this.gaps.values()].map(({ at, longest }) => Math.max(longest, performance.now() - at)));
  }

  /** Resolves when each of the servers has acknowledged a write after this call. */
  async everyServerAcknowledged(): Promise<void> {
    const since = performance.now();
    while ([...this.gaps.values()].some(({ at }) => at < since)) await delay(50);
  }

  /** Returns a value that no other write has, since an update without a change makes no version. */
  nextValue(): number {
    return ++this.values;
  }

  acknowledge(url: string, key: string): void {
    if (this.acknowledged.has(key)) this.acknowledgedAgain.add(key);
    this.acknowledged.add(key);
    const { at, longest } = this.gaps.get(url) ?? { at: performance.now(), longest: 0 };
    this.gaps.set(url, { at: performance.now(), longest: Math.max(longest, performance.now() - at) });
  }
}

/** Ids that only refused transactions write. */
export const PHANTOM = 'phantom';

/** Writes to any running server until `signal`. */
export async function writeUntil(
  signal: AbortSignal,
  { bed, random, calm, log }: { bed: ChaosBed; random: Random; calm: Calm; log: WriteLog },
): Promise<void> {
  while (!signal.aborted) {
    await delay(random.integer(...PAUSE_MILLISECONDS));
    await calm.over();
    const running = bed.replicas.flatMap(({ server }) => (server === undefined ? [] : [server]));
    if (running.length === 0) continue;
    const { url } = random.pick(running);
    try {
      await writeOnce({ url, authorization: bed.authorization, round: log.nextValue() }, random, log);
    } catch {
      log.unknown++;
    }
  }
}

/** A server, and a counter that makes each write different from earlier ones. */
export interface Target {
  readonly url: string;
  readonly authorization: string;
  readonly round: number;
}

/** Updates or creates a Patient. */
export async function putPatient(target: Target, id: string, log: WriteLog): Promise<void> {
  const answer = await send(target, 'PUT', `/Patient/${id}`, patient(id, target.round));
  if (answer.ok) acknowledge({ log, url: target.url }, id, answer.headers.get('etag'));
}

async function writeOnce(target: Target, random: Random, log: WriteLog): Promise<void> {
  const id = `p${random.integer(1, HOT_PATIENTS)}`;
  const kind = random.fraction();
  if (kind < 0.8) {
    await putPatient(target, id, log);
  } else if (kind < 0.87) {
    await send(target, 'DELETE', `/Patient/${id}`);
  } else {
    const isRefused = kind > 0.94;
    const ids = isRefused ? [PHANTOM, id] : [id, `p${HOT_PATIENTS + random.integer(1, 10)}`];
    const answer = await send(target, 'POST', '', transaction(ids, target.round, isRefused));
    if (isRefused) log.refused++;
    if (!answer.ok) return;
    const { entry } = (await answer.json()) as { entry: { response: { etag?: string } }[] };
    entry.forEach(({ response }, index) => {
      acknowledge({ log, url: target.url }, ids[index] ?? '', response.etag ?? null);
    });
  }
}

async function send({ url, authorization }: Target, method: string, path: string, body?: object): Promise<Response> {
  const answer = await fetch(`${url}/fhir${path}`, {
    method,
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.ok) return answer;
  await answer.arrayBuffer();
  return answer;
}

function acknowledge({ log, url }: { log: WriteLog; url: string }, id: string, etag: string | null): void {
  const version = /"(\d+)"/.exec(etag ?? '')?.[1];
  if (version !== undefined) log.acknowledge(url, `Patient/${id}/${version}`);
}

const patient = (id: string, value: number): object => ({
  resourceType: 'Patient',
  id,
  multipleBirthInteger: value,
  name: [{ family: 'Chaos', given: [id] }],
});

/**
 * A transaction. With `isRefused`, it contains a reference without a match: the server refuses the whole transaction
 * after it has written the first entries.
 */
const transaction = (ids: readonly string[], value: number, isRefused: boolean): object => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [
    ...ids.map((id) => ({ resource: patient(id, value), request: { method: 'PUT', url: `Patient/${id}` } })),
    ...(isRefused
      ? [
          {
            resource: { ...patient('never', value), id: 'never' },
            request: { method: 'PUT', url: 'Patient/never', ifMatch: 'W/"999999"' },
          },
        ]
      : []),
  ],
});
