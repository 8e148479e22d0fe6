import { localKey } from '../../fhir/reference';
import { type StoredVersion } from '../../model/stored-resource';
import { type AnswerValues } from '../../operation/operation';
import { type Interaction } from '../../resource/hooks/resource-change';
import { printHistoryPosition } from '../../store/history-position';
import { type HistoryPosition } from '../../store/history-statements';
import { type Decision } from '../criteria/criteria-evaluation';
import { type DryRunRequest } from './dry-run-request';

const HOUR_MILLISECONDS = 3_600_000;
/** How many failed parts of triggers are listed. A topic may have 100 triggers with many clauses each. */
const MOST_UNMET = 20;

const REASON = { failed: 'code', clause: 'string', supported: 'string' } as const;
const TRIGGER = { index: 'integer', fires: 'boolean', undecided: 'string', ...REASON } as const;
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
    trigger: TRIGGER,
  },
} as const;
export type DryRunValues = AnswerValues<typeof DRY_RUN_PARTS>;

export interface TriggerVerdict {
  readonly index: number;
  /** Undefined if the criterion cannot be evaluated; the version then counts as a match. */
  readonly decision: Decision;
  /** Why the trigger did not fire: the first part, or the first clause of its criterion, that was not true. */
  readonly reason?: AnswerValues<typeof REASON>;
}

/** A part of a trigger, and for how many versions it was the first part that was not true. */
type UnmetPart = AnswerValues<typeof DRY_RUN_PARTS.unmet> & { readonly versions: number };

/** Counts the results for versions. Only those to list are kept: 20,000 would fill the memory. */
export class DryRunAnswer {
  examined = 0;
  private undecided = 0;
  private readonly matchedAt: Date[] = [];
  /** The listed versions, oldest first. */
  private readonly listed: AnswerValues<typeof DRY_RUN_PARTS.version>[] = [];
  private readonly unmet = new Map<string, UnmetPart>();

  constructor(private readonly request: DryRunRequest) {}

  add(
    { type, id, version, updatedAt }: StoredVersion,
    interaction: Interaction,
    verdicts: readonly TriggerVerdict[],
  ): void {
    const fires = verdicts.some(({ decision }) => decision !== false);
    this.examined += 1;
    if (fires) this.matchedAt.push(updatedAt);
    else this.addUnmet(verdicts);
    if (fires && !verdicts.some(({ decision }) => decision === true)) this.undecided += 1;
    const { count, fires: asked = fires } = this.request;
    if (count === 0 || asked !== fires) return;
    const reference = { reference: `${localKey(type, id)}/_history/${version}` };
    this.listed.push({ reference, time: updatedAt, interaction, fires, trigger: verdicts.map(triggerValues) });
    if (this.listed.length > count) this.listed.shift();
  }

  /**
   * Returns the response: the counts, and then a part `version` for each listed version, oldest first.
   * @param next the position at which the next call continues; undefined if all versions up to `end` were examined
   */
  values(next: HistoryPosition | undefined): DryRunValues {
    const { request, matchedAt } = this;
    const start = request.after?.updatedAt ?? request.start;
    const end = next?.updatedAt ?? request.end;
    return {
      start,
      end,
      isComplete: next === undefined,
      versionsExamined: this.examined,
      events: matchedAt.length,
      undecided: this.undecided,
      eventsPerHour: perHour(matchedAt.length, end.getTime() - start.getTime()),
      busiestHour: busiestHourOf(matchedAt),
      next: next && printHistoryPosition(next),
      unmet: [...this.unmet.values()].sort((one, other) => other.versions - one.versions).slice(0, MOST_UNMET),
      version: this.listed,
    };
  }

  private addUnmet(verdicts: readonly TriggerVerdict[]): void {
    for (const { index, reason } of verdicts) {
      if (reason === undefined) continue;
      const key = JSON.stringify([index, reason]);
      this.unmet.set(key, { index, ...reason, versions: (this.unmet.get(key)?.versions ?? 0) + 1 });
    }
  }
}

const triggerValues = ({ index, decision, reason }: TriggerVerdict): AnswerValues<typeof TRIGGER> => ({
  index,
  fires: decision !== false,
  undecided: decision === undefined ? 'The criterion cannot be evaluated, or takes too long.' : undefined,
  ...reason,
});

const perHour = (events: number, milliseconds: number): number =>
  milliseconds <= 0 ? 0 : Math.round((events / (milliseconds / HOUR_MILLISECONDS)) * 100) / 100;

function busiestHourOf(times: readonly Date[]): DryRunValues['busiestHour'] {
  const counts = new Map<number, number>();
  for (const time of times) {
    const hour = Math.floor(time.getTime() / HOUR_MILLISECONDS);
    counts.set(hour, (counts.get(hour) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most && { start: new Date(most[0] * HOUR_MILLISECONDS), events: most[1] };
}
