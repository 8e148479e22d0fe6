import { type ReactElement, useSyncExternalStore } from 'react';
import { ageOf, clockOf, stampOf, zonedStampOf } from './times';

interface Props {
  /** An instant from the server, or milliseconds. */
  readonly value: string | number;
  /** The form: `ago` is 3 min ago; `stamp` has the date; `zoned` also has the zone; `clock` is today's time. */
  readonly as?: 'ago' | 'stamp' | 'zoned' | 'clock';
}

/** A point in time. Its title shows the other forms. */
export function Time({ value, as = 'stamp' }: Props): ReactElement {
  const now = useNow();
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return <span>{String(value)}</span>;
  const text = {
    ago: `${ageOf(now - time.getTime())} ago`,
    stamp: stampOf(time),
    zoned: zonedStampOf(time),
    clock: clockOf(time),
  }[as];
  return (
    <time dateTime={time.toISOString()} title={as === 'ago' ? stampOf(time) : time.toISOString()}>
      {text}
    </time>
  );
}

const TICK_MILLISECONDS = 5000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls `listener` at each tick of one clock, which all times on the page share. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK_MILLISECONDS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const useNow = (): number =>
  useSyncExternalStore(subscribe, () => {
    // The clock stops while no time is shown, so its value may be old. During one render the value must not change, or
    // React would render again.
    if (timer === undefined && Date.now() - now > TICK_MILLISECONDS) now = Date.now();
    return now;
  });
