import { type ReactElement } from 'react';
import { curveOf } from './curve';

export type Ink = 'accent' | 'bad' | 'warn';

interface Props {
  /** The plot as a sentence, for screen readers. */
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly ink: Ink;
}

const HEIGHT = 36;
/** Space above and below the curve, so that its line is not cut. */
const MARGIN = 3;

/** A small plot without axes, in the colors of the theme. */
export function Sparkline({ label, values, ink }: Props): ReactElement {
  const { line, area } = curveOf(values, HEIGHT - 2 * MARGIN);
  return (
    <svg
      className="sparkline"
      role="img"
      aria-label={label}
      viewBox={`0 ${-MARGIN} ${Math.max(1, values.length - 1)} ${HEIGHT}`}
      preserveAspectRatio="none"
      height={HEIGHT}
      style={{ color: `var(--ink-${ink})` }}
    >
      <path className="area" d={area} />
      <path className="line" d={line} />
    </svg>
  );
}
