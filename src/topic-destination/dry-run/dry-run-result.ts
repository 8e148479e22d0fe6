import { type StoredVersion } from '../../model/stored-resource';
import { type Interaction } from '../../resource/hooks/resource-change';
import { type HistoryPosition } from '../../store/history-statements';
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

export interface DryRunResult {
  /** The listed versions, oldest first. */
  readonly listed: readonly VersionVerdict[];
  /** The parts because of which versions did not fire, the most frequent first. */
  readonly unmet: readonly UnmetPart[];
  readonly examined: number;
  /** The times of the versions that would have caused an event. */
  readonly matchedAt: readonly Date[];
  readonly undecided: number;
  /** The position at which the next call continues; absent if all versions up to `end` were examined. */
  readonly next?: HistoryPosition;
}
