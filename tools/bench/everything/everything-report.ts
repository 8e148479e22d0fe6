import { textTable } from '../../demo/text-table';
import { type EverythingFigures } from './measure-chart';

const HEADINGS = [
  ...['form', 'resources', 'answer MB', 'requests', 'first byte ms', 'whole ms'],
  ...['server µs/res.', 'database µs/res.', 'resources per core-second', 'growth MB'],
];

/** One line for each chart and format; a dash means not measured. */
export function everythingReportOf(figures: readonly EverythingFigures[]): string {
  const cells = figures.map((one) => {
    const { format, resources, serverMicroseconds: server, databaseMicroseconds: database } = one;
    const total = server === undefined || database === undefined ? undefined : server + database;
    const numbers = [
      shown(resources, 0),
      shown(one.answerBytes / 1e6, 2),
      shown(one.requests, 0),
      shown(one.firstByteMilliseconds, 1),
      shown(one.milliseconds, 0),
      shown(server && server / resources, 1),
      shown(database && database / resources, 1),
      shown(total && (resources * 1e6) / total, 0),
      shown(one.growthBytes && one.growthBytes / 2 ** 20, 1),
    ];
    return [format, ...numbers.map((number, index) => number.padStart(HEADINGS[index + 1]?.length ?? 0))];
  });
  return textTable(HEADINGS, cells);
}

const shown = (value: number | undefined, digits: number): string =>
  value === undefined ? '-' : value.toFixed(digits);
