import { textTable } from '../demo/text-table';
import { type Measured, totalMicroseconds } from './measured';

/** One operation on one server. */
export interface ReportLine {
  readonly operation: string;
  readonly target: string;
  readonly measured: Measured;
  /** Resources that one operation writes, if more than one. */
  readonly resources?: number;
  /** The same operation on the baseline. Absent for the baseline itself, and if no baseline is measured. */
  readonly baseline?: Measured;
}

const HEADINGS = [
  ...['operation', 'target', 'per second', 'server µs', 'database µs', 'total µs'],
  ...['p50 ms', 'p99 ms', 'answer kB', 'ratio', 'errors'],
];

/** Formats the figures; a dash means not measured. */
export function reportOf(lines: readonly ReportLine[]): string {
  const cells = lines.map(({ operation, target, measured, baseline }) => {
    const { perSecond, cpu, p50Milliseconds, p99Milliseconds, answerBytes, errors } = measured;
    const numbers = [
      shown(perSecond, 0),
      shown(cpu?.serverMicroseconds, 0),
      shown(cpu?.databaseMicroseconds, 0),
      shown(cpu && totalMicroseconds(cpu), 0),
      shown(p50Milliseconds, 1),
      shown(p99Milliseconds, 1),
      shown(answerBytes && answerBytes / 1000, 1),
      shown(cpu && baseline?.cpu && totalMicroseconds(cpu) / totalMicroseconds(baseline.cpu), 2),
      String(errors),
    ];
    const aligned = numbers.map((number, index) => number.padStart(HEADINGS[index + 2]?.length ?? 0));
    return [target === 'baseline' ? '' : operation, target, ...aligned];
  });
  return textTable(HEADINGS, cells);
}

const shown = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits);

/** Resources that one core writes per second, server and database together, for operations that write many. */
export function resourceRates(lines: readonly ReportLine[]): string[] {
  return lines.flatMap(({ operation, target, measured: { cpu }, resources }) =>
    cpu === undefined || resources === undefined
      ? []
      : [
          `${operation}, ${target}: ${((resources * 1_000_000) / totalMicroseconds(cpu)).toFixed(0)} resources per core-second`,
        ],
  );
}
