import { type StoredVersion } from '../../model/stored-resource';
import { type Interaction } from '../../resource/hooks/resource-change';
import { type Decision } from '../criteria/criteria-evaluation';
import { type DryRunRequest } from './dry-run-request';

/** The result of one trigger for one version. */
export interface TriggerVerdict {
  /** The index of the trigger in its topic. */
  readonly index: number;
  /** Undefined if the criterion cannot be evaluated; the version then counts as a match. */
  readonly decision: Decision;
  /** Why the trigger did not fire: the first part, or the first clause of its criterion, that was not true. */
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

/** Counts the results for versions. Only those to list are kept: 20,000 with their texts would fill the memory. */
export class DryRunTally {
  examined = 0;
  undecided = 0;
  /** The times of the versions that would have caused an event. */
  readonly matchedAt: Date[] = [];
  /** The listed versions, oldest first. */
  readonly listed: VersionVerdict[] = [];
  private readonly unmet = new Map<string, UnmetPart>();

  constructor(private readonly request: Pick<DryRunRequest, 'count' | 'fires'>) {}

  add(verdict: VersionVerdict): void {
    const { version, triggers } = verdict;
    const fires = triggers.some(({ decision }) => decision !== false);
    this.examined += 1;
    if (fires) this.matchedAt.push(version.updatedAt);
    else this.addUnmet(verdict);
    if (fires && !triggers.some(({ decision }) => decision === true)) this.undecided += 1;
    const { count, fires: asked = fires } = this.request;
    if (count === 0 || asked !== fires) return;
    this.listed.push(verdict);
    if (this.listed.length > count) this.listed.shift();
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
