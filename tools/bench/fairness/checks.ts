import { quantile } from '../statistics';
import { type SceneFigures } from './run-scene';

/** One figure of a scene and its limit. */
export interface Check {
  readonly what: string;
  readonly measured: string;
  /** The limit; empty without one. */
  readonly promised: string;
  readonly isKept: boolean;
}

/** All figures of a scene, with the limits of the scene. In every scene, the logins of other callers must succeed. */
export function checksOf({
  scene,
  attack,
  memory,
  alone,
  reads,
  baselineReads,
  logins,
  quietSeconds,
}: SceneFigures): readonly Check[] {
  const { promises } = scene;
  const { seconds, statuses, successesByCaller: successes, slowestLoginSeconds: slowest } = attack;
  const total = successes.reduce((sum, count) => sum + count, 0);
  const spread = Math.max(...successes) - Math.min(...successes);
  const failedLogins = logins.filter((time) => !Number.isFinite(time)).length;
  const answered = Object.entries(statuses);
  return [
    atMost('memory at most, MB', megabytes(memory.peak), promises.memoryMegabytes),
    atMost('memory after, MB', megabytes(memory.after), undefined),
    atMost('reads before the attack p99, ms', quantile(alone, 0.99), undefined, 1),
    atMost('reads of others p50, ms', quantile(reads, 0.5), undefined, 1),
    atMost('reads of others p99, ms', quantile(reads, 0.99), promises.readsP99Milliseconds, 1),
    atMost('reads of the baseline p99, ms', quantile(baselineReads, 0.99), undefined, 1),
    atMost('times the baseline', quantile(reads, 0.99) / quantile(baselineReads, 0.99), undefined, 1),
    atMost(`of ${logins.length} logins of others failed`, failedLogins, 0),
    atMost('slowest of these logins, s', Math.max(...logins), undefined, 1),
    {
      what: 'answers to the attack',
      measured: answered.map(([status, count]) => `${count} × ${status}`).join(', '),
      promised: promises.statuses?.join(' ') ?? '',
      isKept: answered.every(([status]) => promises.statuses?.includes(Number(status)) ?? true),
    },
    ...promised(promises.successesPerSecond, (least) => atLeast('successes a second', total / seconds, least)),
    ...promised(promises.spread, (most) => atMost('successes that a caller has more than another', spread, most)),
    ...promised(promises.loginSeconds, (most) => atMost('slowest login of the attack, s', slowest, most, 1)),
    ...promised(promises.quietSeconds, (most) => atMost('until the database is quiet, s', quietSeconds, most, 2)),
  ];
}

const megabytes = (bytes: number | undefined): number => (bytes ?? Number.NaN) / 1e6;

const atMost = (what: string, value: number, most: number | undefined, digits = 0): Check => ({
  what,
  measured: value.toFixed(digits),
  promised: most === undefined ? '' : `≤ ${most}`,
  // A missing measurement counts as failed.
  isKept: most === undefined || value <= most,
});

const atLeast = (what: string, value: number, least: number): Check => ({
  what,
  measured: value.toFixed(2),
  promised: `≥ ${least.toFixed(2)}`,
  isKept: value >= least,
});

/** Omits a figure without a limit. */
const promised = (limit: number | undefined, check: (limit: number) => Check): readonly Check[] =>
  limit === undefined ? [] : [check(limit)];
