import { type ReactElement } from 'react';
import { type DestinationOverview } from 'svc-health-client';
import { whole } from '../../parts/numbers';
import { barsOf, hoursOf } from './hours';
import css from './destinations.module.css';

interface Props {
  readonly hours: DestinationOverview['hours'];
  readonly height?: number;
}

/**
 * Delivered events above, failed attempts below, by hour. The bars are plain SVG, which renders fast: a table shows
 * hundreds of them while it scrolls.
 */
export function HourBars({ hours, height = 24 }: Props): ReactElement {
  const all = hoursOf(hours, Date.now());
  const most = Math.max(...all.map(({ delivered, failed }) => Math.max(delivered, failed)));
  const sum = (name: 'delivered' | 'failed'): number => all.reduce((total, hour) => total + hour[name], 0);
  const half = height / 2;
  const label = `Latest 24 hours: ${whole(sum('delivered'))} delivered, ${whole(sum('failed'))} failed attempts`;
  return (
    <svg
      className={css.hourBars}
      role="img"
      aria-label={label}
      viewBox={`0 0 24 ${height}`}
      preserveAspectRatio="none"
      height={height}
    >
      <title>{label}</title>
      <path className={css.hourLine} d={`M0 ${half - 0.25}h24v.5h-24z`} />
      <path
        className={css.hourGood}
        d={barsOf(
          all.map(({ delivered }) => delivered),
          most,
          half - 1,
        )}
      />
      <g transform={`translate(0 ${height}) scale(1 -1)`}>
        <path
          className={css.hourBad}
          d={barsOf(
            all.map(({ failed }) => failed),
            most,
            half - 1,
          )}
        />
      </g>
    </svg>
  );
}
