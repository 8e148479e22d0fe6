import { textTable } from '../../demo/text-table';
import { type ScaleFigures } from './measure-case';
import { type ScaleCase } from './scale-cases';

/** The figures of each class for all sizes, and the growth of its CPU from the first size to the last. */
export function scaleReportOf(
  sizes: readonly number[],
  cases: readonly ScaleCase[],
  columns: readonly (readonly ScaleFigures[])[],
): string {
  const headings = sizes.flatMap((size) => {
    const thousands = `${Math.round(size / 1000)}k`;
    return [`${thousands}: µs`, 'p95 µs', 'p50 ms', 'p95 ms', 'rows'];
  });
  const rows = cases.map(({ name, type }, index) => {
    const figures = columns.map((column) => column[index]);
    const [first, last] = [figures.at(0), figures.at(-1)];
    const growth = first && last && sizes.length > 1 ? (last.microseconds / first.microseconds).toFixed(1) : '-';
    const cells = figures.flatMap((one) =>
      one === undefined
        ? []
        : [
            one.microseconds.toFixed(0),
            one.p95Microseconds.toFixed(0),
            one.p50Milliseconds.toFixed(2),
            one.p95Milliseconds.toFixed(2),
            one.rows.toFixed(1),
          ],
    );
    return [type, name, ...cells.map((cell, place) => cell.padStart(headings[place]?.length ?? 0)), growth.padStart(6)];
  });
  return textTable(['type', 'search', ...headings, 'growth'], rows);
}
