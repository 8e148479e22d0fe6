import { type ReactElement, useSyncExternalStore } from 'react';
import { ageOf, clockOf, stampOf, zonedStampOf } from './times';

interface Props {
  /** An instant from the server, or milliseconds. */
  readonly value: string | number;
  /** `ago`: 3 min ago; `stamp`: with the date; `zoned`: with the zone too; `clock`: today's time. */
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

/** One clock for all times on the page. */
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
    // The clock stops while no time is shown. During one render its value must not change, or React renders again.
    if (timer === undefined && Date.now() - now > TICK_MILLISECONDS) now = Date.now();
    return now;
  });
