import { quantile } from '../bench/statistics';
import { type Audit } from './auditor';
import { type FaultLog } from './fault-log';
import { type WriteLog } from './writers';

const SHOWN_VIOLATIONS = 20;

/** Formats the counts of a run as text. */
export function reportOf(
  { violations, committed, destinations, arrived, repeated, answeredLate, samples }: Audit,
  writes: WriteLog,
  log: FaultLog,
): string {
  const count = (name: string): number => violations.filter(({ invariant }) => invariant.startsWith(name)).length;
  const expected = committed * destinations;
  const repeatedEvents = arrived - expected + count('I1');
  const shown = violations.slice(0, SHOWN_VIOLATIONS).map(({ invariant, detail }) => `\n  ${invariant}: ${detail}`);
  return `
crashes       ${log.count('kill -9')} servers killed, ${log.count('process killed')} of their processes, ${log.count('database crash')} database crashes, ${log.count('SIGTERM')} SIGTERM, ${log.count('connections cut')} times connections cut
delays        ${log.count('answer held')} answers held, ${log.count('commit held')} commits held, ${log.count('prepared')} transactions prepared, ${log.count('lone writer')} lone writers held
writes        ${writes.acknowledged.size} versions acknowledged, ${writes.unknown} calls without an answer, ${writes.refused} transactions rolled back
committed     ${committed} events × ${destinations} destinations = ${expected}
lost          ${count('I1')}
phantom       ${count('I2') + count('rolled back')}
inversions    ${count('I3')}
number gaps   ${count('I4')}
other bytes   ${count('I5')}
totals wrong  ${count('I6') + count('I7')} of ${samples} samples
two at once   ${count('I8')}
duplicates    ${repeatedEvents} events (${((100 * repeatedEvents) / expected).toFixed(2)} %) in ${repeated} batches, ${answeredLate} answered too late, ${count('I9')} unexplained
takeover      ${log.takeovers.length} kills during an attempt, to the next one: ${timesOf(log.takeovers)}
database      from its crash to its first answer: ${timesOf(log.databaseRestarts)}
broken        ${violations.length}${shown.join('')}`;
}

const timesOf = (milliseconds: readonly number[]): string =>
  milliseconds.length === 0
    ? 'none was timed'
    : `p50 ${quantile(milliseconds, 0.5).toFixed(0)} ms, p99 ${quantile(milliseconds, 0.99).toFixed(0)} ms`;
