const two = (number: number): string => String(number).padStart(2, '0');

/** Formats a time as `21:43:09`, in the time zone of this device. */
export const clockOf = (time: Date): string =>
  `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;

/** Formats a day as `2026-11-25`, in the time zone of this device. */
export const dayOf = (time: Date): string => `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;

export const stampOf = (time: Date): string => `${dayOf(time)} ${clockOf(time)}`;

/** The time zone of this device at a time, such as `UTC+01:00`. */
export function zoneOf(time: Date): string {
  const minutes = -time.getTimezoneOffset();
  const size = Math.abs(minutes);
  return size === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Formats a time as `2026-11-25 21:43:09 UTC+01:00`, for records that are read elsewhere. */
export const zonedStampOf = (time: Date): string => `${stampOf(time)} ${zoneOf(time)}`;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration in the largest unit with a value of at least 2: `90 s`, `3 min`, `30 h`. Less than a second is `0 s`. */
export function ageOf(milliseconds: number): string {
  const length = Math.max(0, milliseconds);
  const [unit, size] = UNITS.find(([, least]) => length >= 2 * least) ?? UNITS[3];
  return `${Math.floor(length / size)} ${unit}`;
}
