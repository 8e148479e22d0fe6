const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The end of each chart. It is fixed, so that the charts are the same on every day. */
export const CHART_END = new Date('2024-12-31T00:00:00Z');

export function minutesAfter(moment: Date, minutes: number): Date {
  return new Date(moment.getTime() + minutes * MINUTE_MS);
}

export function daysAfter(moment: Date, days: number): Date {
  return new Date(moment.getTime() + days * DAY_MS);
}

/** The midnight (UTC) at `fraction` of the way between two moments. */
export function dayBetween(from: Date, to: Date, fraction: number): Date {
  const moment = from.getTime() + (to.getTime() - from.getTime()) * fraction;
  return new Date(moment - (moment % DAY_MS));
}

/** Prints a FHIR `date`. */
export function dateOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** Prints a FHIR `instant` of whole seconds, which is a `dateTime` too. */
export function instantOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}
