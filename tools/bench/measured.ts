import { type CpuShare } from './cpu-meter';
import { median, quantile } from './statistics';

/** Results of one round of a case. */
export interface Round {
  readonly operations: number;
  readonly seconds: number;
  readonly cpu: CpuShare | undefined;
  /** The latency of each request, in milliseconds. */
  readonly latencies: readonly number[];
  /** Bytes of the bodies of all responses; undefined without responses. */
  readonly answerBytes: number | undefined;
  /** Responses with an unexpected status, and requests without a response. */
  readonly errors: number;
}

/** The results of all rounds of a case on one server, as medians: one disturbed round changes nothing. */
export interface Measured {
  readonly perSecond: number;
  /** CPU of one operation. */
  readonly cpu: CpuShare | undefined;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** The mean size of response bodies: server and baseline must return the same. */
  readonly answerBytes: number | undefined;
  readonly errors: number;
}

export function measuredOf(rounds: readonly Round[]): Measured {
  const latencies = rounds.flatMap((round) => round.latencies);
  return {
    perSecond: median(rounds.map(({ operations, seconds }) => operations / seconds)),
    cpu: cpuOf(rounds),
    p50Milliseconds: quantile(latencies, 0.5),
    p99Milliseconds: quantile(latencies, 0.99),
    answerBytes: answerBytesOf(rounds),
    errors: rounds.reduce((sum, round) => sum + round.errors, 0),
  };
}

function answerBytesOf(rounds: readonly Round[]): number | undefined {
  const [first] = rounds;
  return first?.answerBytes === undefined ? undefined : first.answerBytes / first.operations;
}

export const totalMicroseconds = ({ serverMicroseconds, databaseMicroseconds }: CpuShare): number =>
  serverMicroseconds + databaseMicroseconds;

function cpuOf(rounds: readonly Round[]): CpuShare | undefined {
  const shares = rounds.flatMap(({ cpu, operations }) => (cpu === undefined ? [] : [{ cpu, operations }]));
  if (shares.length === 0) return undefined;
  const perOperation = (of: (cpu: CpuShare) => number): number =>
    median(shares.map(({ cpu, operations }) => of(cpu) / operations));
  return {
    serverMicroseconds: perOperation((cpu) => cpu.serverMicroseconds),
    databaseMicroseconds: perOperation((cpu) => cpu.databaseMicroseconds),
  };
}
