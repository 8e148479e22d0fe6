import { type DestinationOverview } from 'svc-health-client';

type Hours = DestinationOverview['hours'];

const HOUR_MILLISECONDS = 3_600_000;
const SHOWN = 24;

/** Delivered events and failed attempts of each of the latest 24 hours. Hours without any have zeros. */
export function hoursOf(hours: Hours, now: number): readonly { readonly delivered: number; readonly failed: number }[] {
  const latest = Math.floor(now / HOUR_MILLISECONDS);
  const known = new Map(hours.map((hour) => [Math.floor(Date.parse(hour.start) / HOUR_MILLISECONDS), hour]));
  return Array.from({ length: SHOWN }, (_none, index) => {
    const { delivered = 0, failed = 0 } = known.get(latest - SHOWN + 1 + index) ?? {};
    return { delivered, failed };
  });
}

/** Bars as an SVG path in a box of 24 by `height`; the smallest count stays visible. */
export function barsOf(values: readonly number[], most: number, height: number): string {
  return values
    .map((value, index) => {
      if (value === 0 || most === 0) return '';
      const bar = Math.max(1.5, (value / most) * height);
      return `M${index + 0.15} ${height}v-${bar.toFixed(2)}h.7v${bar.toFixed(2)}z`;
    })
    .join('');
}
