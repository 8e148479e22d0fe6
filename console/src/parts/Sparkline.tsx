import { type ReactElement, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export type Ink = 'accent' | 'bad' | 'warn' | 'faint';

interface Line {
  readonly values: readonly (number | null)[];
  readonly ink?: Ink;
}

interface Props {
  /** The plot as a sentence, for screen readers. */
  readonly label: string;
  readonly lines: readonly Line[];
  readonly height?: number;
  readonly isBars?: boolean;
}

/** A small plot without axes, in the colors of the theme. */
export function Sparkline({ label, lines, height = 36, isBars = false }: Props): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const inks = lines.map(({ ink = 'accent' }) => ink).join();

  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const made = new uPlot(
      {
        width: Math.max(20, current.clientWidth),
        height,
        cursor: { show: false },
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        padding: [3, 1, 3, 1],
        scales: { x: { time: false }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.05 : 1] } },
        series: [{}, ...(inks.split(',') as Ink[]).map((ink) => seriesOf(ink, isBars))],
      },
      [[], ...inks.split(',').map(() => [])],
      current,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => {
      made.setSize({ width: Math.max(20, current.clientWidth), height });
    });
    sized.observe(current);
    const redraw = (): void => {
      made.redraw();
    };
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      dark.removeEventListener('change', redraw);
      themed.disconnect();
      sized.disconnect();
      made.destroy();
    };
  }, [height, inks, isBars]);

  useEffect(() => {
    const length = Math.max(0, ...lines.map(({ values }) => values.length));
    const xs = Array.from({ length }, (_none, index) => index);
    plot.current?.setData([xs, ...lines.map(({ values }) => [...values])]);
  }, [lines, height, inks, isBars]);

  return <div ref={box} className="sparkline" role="img" aria-label={label} style={{ height }} />;
}

function seriesOf(ink: Ink, isBars: boolean): uPlot.Series {
  const color = (alpha: string) => (): string =>
    `color-mix(in srgb, ${getComputedStyle(document.documentElement).getPropertyValue(`--ink-${ink}`)} ${alpha}, transparent)`;
  return {
    stroke: color('100%'),
    width: isBars ? 0 : 1.5,
    fill: color(isBars ? '100%' : '14%'),
    points: { show: false },
    ...(isBars && uPlot.paths.bars !== undefined ? { paths: uPlot.paths.bars({ size: [0.7, 10] }) } : {}),
  };
}
