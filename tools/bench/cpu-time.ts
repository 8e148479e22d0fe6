import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';

/** Nanoseconds of CPU by task. */
export type CpuReading = ReadonlyMap<string, number>;

/** Whether the kernel reports CPU times of tasks in nanoseconds. */
export const hasCpuTimes = (): boolean => existsSync('/proc/self/schedstat');

/** Reads the CPU time of all threads of a process. */
export async function readProcess(pid: number): Promise<CpuReading> {
  const reading = new Map<string, number>();
  for (const task of await readdir(`/proc/${pid}/task`)) {
    const text = await textOfLivingTask(`/proc/${pid}/task/${task}/schedstat`);
    if (text !== undefined) reading.set(task, Number(text.split(' ')[0]));
  }
  return reading;
}

/** The child processes of a process; none if the kernel has no `/proc`. */
export const childrenOf = async (pid: number): Promise<number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ').filter(Boolean).map(Number);

/**
 * The nanoseconds of a hundredth of a second. On all its platforms, Linux reports the time of ended processes in this
 * unit.
 */
const NANOSECONDS_OF_A_TICK = 10_000_000;

/**
 * Reads the CPU time of a PostgreSQL as one sum: the postmaster, its children (all other processes), and children that
 * ended, such as autovacuum workers.
 */
export async function readPostgres(postmasterPid: number): Promise<CpuReading> {
  let sum = await endedChildrenOf(postmasterPid);
  for (const pid of [postmasterPid, ...(await childrenOf(postmasterPid))]) {
    const text = await textOfLivingTask(`/proc/${pid}/schedstat`);
    if (text !== undefined) sum += Number(text.split(' ')[0]);
  }
  return new Map([['all', sum]]);
}

/**
 * The CPU nanoseconds of ended children: fields 16 and 17 of proc_pid_stat(5). They are counted after the name, which
 * may contain spaces.
 */
async function endedChildrenOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * NANOSECONDS_OF_A_TICK;
}

/** Time spent between two readings; tasks that ended in between are not included. */
export function nanosecondsBetween(before: CpuReading, after: CpuReading): number {
  let sum = 0;
  for (const [task, nanoseconds] of after) sum += nanoseconds - (before.get(task) ?? 0);
  return sum;
}

/** The text of a file of a task; undefined if the task has ended since it was listed. */
async function textOfLivingTask(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
