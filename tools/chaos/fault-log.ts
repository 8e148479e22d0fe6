/** The selectable faults, each with its effects on the cluster. */
export const FAULTS = {
  kill: ['kill -9', 'process killed', 'SIGTERM', 'connections cut', 'database crash'],
  delay: ['answer held'],
  'slow-commit': ['commit held'],
  lone: ['lone writer'],
  prepared: ['prepared'],
} as const;

export type FaultName = keyof typeof FAULTS;
export type FaultKind = (typeof FAULTS)[FaultName][number];
/** Faults that end a process or a connection, and so explain a repeated batch. */
export type CrashKind = (typeof FAULTS)['kill'][number];

export interface Crash {
  readonly kind: CrashKind;
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
  /** When the database answered again, or when the server had ended. For cut connections it equals `at`. */
  endedAt: number;
}

/** The faults of a run, and the recovery times of the cluster. */
export class FaultLog {
  readonly crashes: Crash[] = [];
  /** Milliseconds from the kill of a server during an attempt to the next attempt by the other server. */
  readonly takeovers: number[] = [];
  /** Milliseconds from a crash of the database to its first response. */
  readonly databaseRestarts: number[] = [];
  /** Servers that exited unexpectedly. */
  exits = 0;
  private readonly counts = new Map<FaultKind, number>();

  add(kind: FaultKind): void {
    this.counts.set(kind, this.count(kind) + 1);
  }

  addCrash(kind: CrashKind, at: number): Crash {
    this.add(kind);
    const crash = { kind, at, endedAt: at };
    this.crashes.push(crash);
    return crash;
  }

  count(...kinds: readonly FaultKind[]): number {
    return kinds.reduce((sum, kind) => sum + (this.counts.get(kind) ?? 0), 0);
  }
}

/** Parses comma-separated names. @throws Error that lists the known ones */
export function faultsOf(text: string): readonly FaultName[] {
  const known = Object.keys(FAULTS) as FaultName[];
  return text.split(',').map((given) => {
    const name = known.find((other) => other === given.trim());
    if (name === undefined) throw new Error(`There is no fault "${given}". There are: ${known.join(', ')}.`);
    return name;
  });
}
