import { textTable } from '../../demo/text-table';
import { type CpuShare } from '../cpu-meter';
import { totalMicroseconds } from '../measured';
import { quantile } from '../statistics';
import { type Comparison, DEAD_COUNT } from './dead-destinations';
import { type DrainWindow } from './drain-queues';
import { type ArrivalTimes } from './paced-writes';

const DRAIN_HEADINGS = ['events', 'per second', 'server µs', 'database µs', 'total µs', 'per core-second'];

/** One line for each part of a drain; CPU times are per event. */
export function drainReportOf(
  lines: readonly { readonly name: string; readonly drained: DrainWindow | undefined }[],
): string {
  const rows = lines.flatMap(({ name, drained }) => {
    if (drained === undefined) return [];
    const { events, seconds, cpu } = drained;
    const perEvent = (of: (share: CpuShare) => number): string =>
      cpu === undefined ? '-' : (of(cpu) / events).toFixed(1);
    return [
      aligned(DRAIN_HEADINGS, [
        name,
        (events / seconds).toFixed(0),
        perEvent((share) => share.serverMicroseconds),
        perEvent((share) => share.databaseMicroseconds),
        perEvent(totalMicroseconds),
        cpu === undefined ? '-' : ((events * 1_000_000) / totalMicroseconds(cpu)).toFixed(0),
      ]),
    ];
  });
  return textTable(DRAIN_HEADINGS, rows);
}

const TIME_HEADINGS = ['ms', 'events', 'p50', 'p99', 'largest'];

export function timesReportOf(pace: string, times: ArrivalTimes): string {
  return textTable(TIME_HEADINGS, [
    timesRow(`${pace}: commit to head`, times.headSinceCommit),
    timesRow(`${pace}: commit to last byte`, times.wholeSinceCommit),
    timesRow(`${pace}: answer to last byte`, times.wholeSinceAnswer),
  ]);
}

export const takeoverReportOf = (times: readonly number[]): string =>
  textTable(TIME_HEADINGS.with(1, 'kills'), [timesRow('kill -9 during an attempt to the next attempt', times)]);

/**
 * The report of living destinations alone and beside dead ones, with the CPU time that the dead ones cost per second.
 */
export function deadReportOf({ alone, beside }: { readonly alone: Comparison; readonly beside: Comparison }): string {
  const groups = [
    ['one', (comparison: Comparison) => comparison.one],
    ['each of five', (comparison: Comparison) => comparison.several],
  ] as const;
  const rows = groups.flatMap(([name, timesOf]) => [
    timesRow(`${name}, alone`, timesOf(alone)),
    timesRow(`${name}, beside ${DEAD_COUNT} dead ones`, timesOf(beside)),
  ]);
  const ratios = groups.map(([name, timesOf]) => {
    const ratio = quantile(timesOf(beside), 0.99) / quantile(timesOf(alone), 0.99);
    return `${name}: p99 is ${ratio.toFixed(2)} times that of alone`;
  });
  return [textTable(TIME_HEADINGS, rows), ...ratios, costOf(alone, beside)].join('\n');
}

function costOf(alone: Comparison, beside: Comparison): string {
  if (alone.cpu === undefined || beside.cpu === undefined) return 'CPU times are not measured on this system.';
  const perSecond = ({ seconds }: Comparison, microseconds: number): number => microseconds / 1000 / seconds;
  const [server, database] = (['serverMicroseconds', 'databaseMicroseconds'] as const).map((share) =>
    (perSecond(beside, beside.cpu?.[share] ?? 0) - perSecond(alone, alone.cpu?.[share] ?? 0)).toFixed(1),
  );
  const attempts = (beside.failures / beside.seconds).toFixed(1);
  return `the dead ones cost ${server} ms of the server and ${database} ms of the database in a second, for ${attempts} attempts`;
}

const timesRow = (name: string, times: readonly number[]): string[] =>
  aligned(TIME_HEADINGS, [
    name,
    String(times.length),
    quantile(times, 0.5).toFixed(1),
    quantile(times, 0.99).toFixed(1),
    quantile(times, 1).toFixed(1),
  ]);

const aligned = (headings: readonly string[], [name = '', ...numbers]: readonly string[]): string[] => [
  name,
  ...numbers.map((number, index) => number.padStart(headings[index + 1]?.length ?? 0)),
];
