import { type CpuReading, hasCpuTimes, nanosecondsBetween, readPostgres, readProcess } from './cpu-time';

export interface CpuShare {
  readonly serverMicroseconds: number;
  readonly databaseMicroseconds: number;
}

/** Measures the CPU time of a server process and of all PostgreSQL processes during a task. */
export class CpuMeter {
  constructor(
    private readonly serverPid: number,
    private readonly postmasterPid: number,
  ) {}

  /** Runs `work`. Its CPU time is undefined if the kernel has no `/proc` (only Linux has). */
  async measure<T>(work: () => Promise<T>): Promise<{ result: T; cpu: CpuShare | undefined }> {
    if (!hasCpuTimes()) return { result: await work(), cpu: undefined };
    const before = await this.read();
    const result = await work();
    const after = await this.read();
    return {
      result,
      cpu: {
        serverMicroseconds: nanosecondsBetween(before.server, after.server) / 1000,
        databaseMicroseconds: nanosecondsBetween(before.database, after.database) / 1000,
      },
    };
  }

  private async read(): Promise<{ server: CpuReading; database: CpuReading }> {
    const [server, database] = await Promise.all([readProcess(this.serverPid), readPostgres(this.postmasterPid)]);
    return { server, database };
  }
}
