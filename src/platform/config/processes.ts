import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';

const MIB = 1024 * 1024;

/** Memory per process: about 150 MB at its start, and half of its share of {@link BUDGET_BYTES} in ordinary work. */
const PROCESS_BYTES = 512 * MIB;

/** Zero if this process has no memory limit. */
const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** One process per processor, if the memory suffices. */
export const DEFAULT_PROCESSES = Math.max(1, Math.min(availableParallelism(), Math.floor(memoryBytes / PROCESS_BYTES)));

/** Minimum share of `SVC_MEMORY_BUDGET_BYTES` per process: enough for one body of the default limit. */
const BUDGET_BYTES = 320 * MIB;

/** A byte of a body counts as 8, and large bodies of one caller may use half of the budget. */
const BUDGET_OF_A_BODY_BYTE = 16;

/**
 * A transaction holds one connection while work that must survive a rollback, such as the count of a failed login,
 * takes another.
 */
const CONNECTIONS_OF_A_REQUEST = 2;

/** Four connections per process, within the 100 connections of a PostgreSQL with default settings. */
const defaultPoolSize = (processes: number): number => Math.min(64, Math.max(16, 4 * processes));

/** Limits of a whole start, divided among its processes. */
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
 * The number of processes of a start, and the totals divided among them. Each process must be able to serve the largest
 * request, so small totals reduce their number.
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
 * The settings of one process of a start: its share of each divided limit. Counts in PostgreSQL, such as failed logins,
 * apply to all processes together.
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

/** Set in the environment of a process that serves a start with others: `first`, or `next` for all later ones. */
export const WORKER = '_SVC_WORKER';

/**
 * The role of this process in a start with several; undefined if it is the only one, or the one that starts the others.
 */
export function workerRole(): 'first' | 'next' | undefined {
  const role = cluster.isWorker ? process.env[WORKER] : undefined;
  return role === undefined || role === 'first' ? role : 'next';
}
