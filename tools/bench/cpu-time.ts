import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';

/** Nanoseconds of CPU by task (a thread; the only one of a PostgreSQL backend). */
export type CpuReading = ReadonlyMap<string, number>;

/** Whether the kernel tells CPU times of tasks to the nanosecond. */
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

/** Reads the CPU time of a PostgreSQL: of its first process and of that one's children, which are all the others. */
export async function readPostgres(postmasterPid: number): Promise<CpuReading> {
  const children = await readFile(`/proc/${postmasterPid}/task/${postmasterPid}/children`, 'utf8');
  const reading = new Map<string, number>();
  for (const pid of [String(postmasterPid), ...children.trim().split(' ')]) {
    const text = await textOfLivingTask(`/proc/${pid}/schedstat`);
    if (text !== undefined) reading.set(pid, Number(text.split(' ')[0]));
  }
  return reading;
}

/** What was spent between two readings; of tasks that ended in between nothing is known. */
export function nanosecondsBetween(before: CpuReading, after: CpuReading): number {
  let sum = 0;
  for (const [task, nanoseconds] of after) sum += nanoseconds - (before.get(task) ?? 0);
  return sum;
}

/** Undefined for a task that ended since it was listed. */
async function textOfLivingTask(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
