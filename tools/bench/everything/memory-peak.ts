import { readFile, writeFile } from 'node:fs/promises';

/** Measures by how many bytes the resident memory of a process grows at most while `work` runs; undefined without `/proc`. */
export async function growthOf<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; bytes?: number }> {
  const before = await residentBytes(pid, 'VmRSS');
  // Sets the peak back to what is resident now (proc(5), clear_refs).
  const isReset = await writeFile(`/proc/${pid}/clear_refs`, '5').then(
    () => true,
    () => false,
  );
  const result = await work();
  const peak = isReset ? await residentBytes(pid, 'VmHWM') : undefined;
  return before === undefined || peak === undefined ? { result } : { result, bytes: peak - before };
}

async function residentBytes(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
