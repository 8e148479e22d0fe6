import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';

const MIB = 1024 * 1024;

/** A process takes about 150 MB at its start, and half of its share of {@link BUDGET_BYTES} in ordinary work. */
const PROCESS_BYTES = 512 * MIB;

/** Zero where nothing limits this process. */
const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** One for each processor, as far as the memory goes. */
export const DEFAULT_PROCESSES = Math.max(1, Math.min(availableParallelism(), Math.floor(memoryBytes / PROCESS_BYTES)));

/** Of `SVC_MEMORY_BUDGET_BYTES`, for each process: as much as one body of the default limit needs. */
const BUDGET_BYTES = 320 * MIB;

/** A byte of a body counts as 8, and large bodies of one caller have half of a budget. */
const BUDGET_OF_A_BODY_BYTE = 16;

/** A transaction holds one while what must outlive it, such as the count of a failed login, takes another. */
const CONNECTIONS_OF_A_REQUEST = 2;

/** Four connections for each process, as far as the 100 of a PostgreSQL by default go. */
const defaultPoolSize = (processes: number): number => Math.min(64, Math.max(16, 4 * processes));

/** Limits of a start as a whole, which its processes divide. */
interface Totals {
  readonly processes: number;
  readonly databasePoolSize: number;
  readonly memoryBudgetBytes: number;
  readonly passwordHashSlots: number;
  readonly passwordHashQueue: number;
  readonly deliverySlots: number;
  readonly deliveryBufferBytes: number;
}

/**
 * The number of processes that serve a start, and the totals that they divide. Each must be able to serve the largest
 * request, so totals that are too small make fewer of them.
 */
export function processesOf({
  wanted,
  isEmbedded,
  bodyLimitBytes,
  ...given
}: {
  readonly wanted: number;
  readonly isEmbedded: boolean;
  readonly bodyLimitBytes: number;
  readonly memoryBudgetBytes: number | undefined;
  readonly databasePoolSize: number | undefined;
}): Pick<Totals, 'processes' | 'memoryBudgetBytes' | 'databasePoolSize'> & { processesNote: string | undefined } {
  const poolSize = given.databasePoolSize ?? defaultPoolSize(wanted);
  const budgetBytes = given.memoryBudgetBytes ?? BUDGET_BYTES * wanted;
  const bodyBytes = BUDGET_OF_A_BODY_BYTE * bodyLimitBytes;
  const limits = [
    { most: isEmbedded ? 1 : wanted, reason: 'the embedded database has one. Set DATABASE_URL for more' },
    {
      most: Math.floor(poolSize / CONNECTIONS_OF_A_REQUEST),
      reason: `each needs ${CONNECTIONS_OF_A_REQUEST} connections of SVC_DATABASE_POOL_SIZE`,
    },
    {
      most: Math.floor(budgetBytes / bodyBytes),
      reason: `each needs ${bodyBytes} bytes of SVC_MEMORY_BUDGET_BYTES for a body of SVC_BODY_LIMIT_BYTES`,
    },
  ];
  const [least] = limits.toSorted((one, other) => one.most - other.most);
  const processes = Math.max(1, Math.min(wanted, least?.most ?? wanted));
  return {
    processes,
    processesNote:
      processes === wanted ? undefined : `Processes: ${processes} instead of ${wanted}, since ${least?.reason ?? ''}.`,
    memoryBudgetBytes: given.memoryBudgetBytes ?? BUDGET_BYTES * processes,
    databasePoolSize: given.databasePoolSize ?? defaultPoolSize(processes),
  };
}

/**
 * The settings of one of the processes of a start: its share of all that is limited for a process. Counts in
 * PostgreSQL, such as failed logins, holds for all processes together anyway.
 */
export function shareOf<All extends Totals>(environment: All): All {
  const share = (total: number): number => Math.max(1, Math.floor(total / environment.processes));
  return Object.freeze({
    ...environment,
    databasePoolSize: share(environment.databasePoolSize),
    memoryBudgetBytes: share(environment.memoryBudgetBytes),
    passwordHashSlots: share(environment.passwordHashSlots),
    passwordHashQueue: Math.ceil(environment.passwordHashQueue / environment.processes),
    deliverySlots: share(environment.deliverySlots),
    deliveryBufferBytes: share(environment.deliveryBufferBytes),
  });
}

/**
 * Set in the environment of a process that serves a start with others: `first`, or `next` for all but the first one.
 */
export const WORKER = '_SVC_WORKER';

/**
 * The part of this process in a start of several; undefined where it is the only one, or the one that starts the
 * others.
 */
export function workerRole(): 'first' | 'next' | undefined {
  const role = cluster.isWorker ? process.env[WORKER] : undefined;
  return role === undefined || role === 'first' ? role : 'next';
}
