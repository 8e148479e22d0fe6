import { localKey } from '../../fhir/reference';
import { type AnswerValues } from '../../operation/operation';
import { printHistoryPosition } from '../../store/history-position';
import { type HistoryPosition } from '../../store/history-statements';
import { type DryRunRequest } from './dry-run-request';
import { type DryRunTally, type UnmetPart } from './dry-run-tally';

const HOUR_MILLISECONDS = 3_600_000;
/** How many failed parts of triggers are listed. A topic may have 100 triggers with many clauses each. */
const MOST_UNMET = 20;

const REASON = { failed: 'code', clause: 'string', supported: 'string' } as const;
export const DRY_RUN_PARTS = {
  start: 'instant',
  end: 'instant',
  isComplete: 'boolean',
  versionsExamined: 'integer',
  events: 'integer',
  undecided: 'integer',
  eventsPerHour: 'decimal',
  busiestHour: { start: 'instant', events: 'integer' },
  next: 'string',
  unmet: { index: 'integer', ...REASON, versions: 'integer' },
  version: {
    reference: 'Reference',
    time: 'instant',
    interaction: 'code',
    fires: 'boolean',
    trigger: { index: 'integer', fires: 'boolean', undecided: 'string', ...REASON },
  },
} as const;
export type DryRunValues = AnswerValues<typeof DRY_RUN_PARTS>;

/**
 * Returns the response of `$dry-run`: the counts, and then a part `version` for each version, oldest first.
 * @param next the position at which the next call continues; undefined if all versions up to `end` were examined
 */
export function dryRunValues(
  { start, end, after }: DryRunRequest,
  { listed, unmetParts, examined, matchedAt, undecided }: DryRunTally,
  next: HistoryPosition | undefined,
): DryRunValues {
  const from = after?.updatedAt ?? start;
  const until = next?.updatedAt ?? end;
  return {
    start: from,
    end: until,
    isComplete: next === undefined,
    versionsExamined: examined,
    events: matchedAt.length,
    undecided,
    eventsPerHour: perHour(matchedAt.length, until.getTime() - from.getTime()),
    busiestHour: busiestHourOf(matchedAt),
    next: next && printHistoryPosition(next),
    unmet: unmetParts
      .slice(0, MOST_UNMET)
      .map(({ index, reason, versions }) => ({ index, ...reasonValues(reason), versions })),
    version: listed.map(({ version, interaction, triggers }) => ({
      reference: { reference: `${localKey(version.type, version.id)}/_history/${version.version}` },
      time: version.updatedAt,
      interaction,
      fires: triggers.some(({ decision }) => decision !== false),
      trigger: triggers.map(({ index, decision, reason }) => ({
        index,
        fires: decision !== false,
        ...(decision === undefined ? { undecided: 'The criterion cannot be evaluated, or takes too long.' } : {}),
        ...(reason === undefined ? {} : reasonValues(reason)),
      })),
    })),
  };
}

function perHour(events: number, milliseconds: number): number {
  if (milliseconds <= 0) return 0;
  return Math.round((events / (milliseconds / HOUR_MILLISECONDS)) * 100) / 100;
}

function busiestHourOf(times: readonly Date[]): DryRunValues['busiestHour'] {
  const counts = new Map<number, number>();
  for (const time of times) {
    const hour = Math.floor(time.getTime() / HOUR_MILLISECONDS);
    counts.set(hour, (counts.get(hour) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most === undefined) return undefined;
  const [hour, events] = most;
  return { start: new Date(hour * HOUR_MILLISECONDS), events };
}

const reasonValues = ({ part, text }: UnmetPart['reason']): AnswerValues<typeof REASON> => ({
  failed: part,
  [part === 'fhirPathCriteria' ? 'clause' : 'supported']: text,
});
