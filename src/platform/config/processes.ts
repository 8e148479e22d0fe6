import cluster from 'node:cluster';
import { availableParallelism, totalmem } from 'node:os';

const MIB = 1024 * 1024;

/** A process needs about 150 MB at its start, and half of its share of {@link BUDGET_BYTES} in ordinary work. */
const PROCESS_BYTES = 512 * MIB;

/** Memory of the machine, or the limit of this process; `constrainedMemory` is zero without one. */
const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** Default number of processes: one for each processor, if there is enough memory. */
export const DEFAULT_PROCESSES = Math.max(1, Math.min(availableParallelism(), Math.floor(memoryBytes / PROCESS_BYTES)));

/**
 * Minimum share of `SVC_MEMORY_BUDGET_BYTES` that a process gets. It is enough for one body of the default size limit.
 */
const BUDGET_BYTES = 320 * MIB;

/**
 * How many bytes of the budget one byte of a body needs. A byte of a body counts as 8, and large bodies of one caller
 * may use only half of the budget.
 */
const BUDGET_OF_A_BODY_BYTE = 16;

/**
 * How many connections a request may need at once. A transaction holds one. Work that must survive a rollback, such as
 * the count of a failed login, takes a second connection meanwhile.
 */
const CONNECTIONS_OF_A_REQUEST = 2;

/**
 * Returns the default pool size: four connections for each process, at least 16. It is at most 64, since PostgreSQL
 * accepts 100 connections by default.
 */
const defaultPoolSize = (processes: number): number => Math.min(64, Math.max(16, 4 * processes));

/** Limits of all processes of one server together, which are divided among them. */
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
 * The number of processes, and the totals that are divided among them. Each process must be able to serve the largest
 * request, so small totals mean fewer processes.
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
 * Returns the settings of one of several processes, with its share of each divided limit. Limits that PostgreSQL
 * counts, such as failed logins, apply to all processes together and are not divided.
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

/** The environment variable with the role of one of several processes: `first`, or `next` for all others. */
export const WORKER = '_SVC_WORKER';

/**
 * Returns the role of this process if it is one of several that serve the port; undefined if it is the only process, or
 * the parent process that starts the others.
 */
export function workerRole(): 'first' | 'next' | undefined {
  const role = cluster.isWorker ? process.env[WORKER] : undefined;
  return role === undefined || role === 'first' ? role : 'next';
}
