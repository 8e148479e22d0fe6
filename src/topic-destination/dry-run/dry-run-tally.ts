import { type StoredVersion } from '../../model/stored-resource';
import { type Interaction } from '../../resource/hooks/resource-change';
import { type Decision } from '../criteria/criteria-evaluation';

/** The result of one trigger for one version. */
export interface TriggerVerdict {
  /** The index of the trigger in its topic. */
  readonly index: number;
  /** Undefined if the criterion cannot be evaluated; the version then counts as a match. */
  readonly decision: Decision;
  /**
   * Why the trigger did not fire: the first part that was not true, which is `supportedInteraction` or a clause of the
   * criterion.
   */
  readonly reason?: { readonly part: 'supportedInteraction' | 'fhirPathCriteria'; readonly text: string };
}

/** One version of the history, with the result of each trigger for it. */
export interface VersionVerdict {
  readonly version: StoredVersion;
  readonly interaction: Interaction;
  readonly triggers: readonly TriggerVerdict[];
}

/** A part of a trigger, and for how many versions it was the first part that was not true. */
export interface UnmetPart {
  readonly index: number;
  readonly reason: NonNullable<TriggerVerdict['reason']>;
  readonly versions: number;
}

/**
 * Counts the results for versions. It keeps only the versions to list, since 20,000 versions with their texts would
 * fill the memory.
 */
export class DryRunTally {
  examined = 0;
  undecided = 0;
  /** The times of the versions that would have caused an event. */
  readonly matchedAt: Date[] = [];
  /** The listed versions, oldest first. */
  readonly listed: VersionVerdict[] = [];
  private readonly unmet = new Map<string, UnmetPart>();

  /**
   * @param fires if present, only versions that fire (true) or do not fire (false) are listed, and of these the newest
   */
  constructor(
    private readonly count: number,
    private readonly fires: boolean | undefined,
  ) {}

  add(verdict: VersionVerdict): void {
    const { version, triggers } = verdict;
    const fires = triggers.some(({ decision }) => decision !== false);
    this.examined += 1;
    if (fires) this.matchedAt.push(version.updatedAt);
    else this.addUnmet(verdict);
    if (fires && !triggers.some(({ decision }) => decision === true)) this.undecided += 1;
    if (this.count === 0 || (this.fires !== undefined && this.fires !== fires)) return;
    this.listed.push(verdict);
    if (this.listed.length > this.count) this.listed.shift();
  }

  /** The parts because of which versions did not fire, the most frequent first. */
  get unmetParts(): readonly UnmetPart[] {
    return [...this.unmet.values()].sort((one, other) => other.versions - one.versions);
  }

  private addUnmet({ triggers }: VersionVerdict): void {
    for (const { index, reason } of triggers) {
      if (reason === undefined) continue;
      const key = `${index} ${reason.part} ${reason.text}`;
      this.unmet.set(key, { index, reason, versions: (this.unmet.get(key)?.versions ?? 0) + 1 });
    }
  }
}
