import { readFile, writeFile } from 'node:fs/promises';

/** Resident bytes of a process; undefined if the kernel has no `/proc`. */
export interface ResidentMemory {
  readonly before: number | undefined;
  /** The largest size while the work ran. */
  readonly peak: number | undefined;
  readonly after: number | undefined;
}

/** Measures the resident memory of a process while `work` runs. */
export async function measureMemory<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; memory: ResidentMemory }> {
  const before = await residentBytes(pid, 'VmRSS');
  // Resets the kernel's peak to the current resident size (proc(5), clear_refs).
  const isReset = await writeFile(`/proc/${pid}/clear_refs`, '5').then(
    () => true,
    () => false,
  );
  const result = await work();
  const peak = isReset ? await residentBytes(pid, 'VmHWM') : undefined;
  return { result, memory: { before, peak, after: await residentBytes(pid, 'VmRSS') } };
}

async function residentBytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
