import { type StoredVersion } from '../../model/stored-resource';
import { type Interaction } from '../../resource/hooks/resource-change';
import { type HistoryPosition } from '../../store/history-statements';
import { type Decision } from '../criteria/criteria-evaluation';

/** The result of one trigger for a version. */
export interface TriggerVerdict {
  /** The index of the trigger in its topic. */
  readonly index: number;
  /** Undefined if it cannot be evaluated: the version then counts as a match. */
  readonly decision: Decision;
  /** Why not: the first part that was not true, `supportedInteraction` or a clause of the criterion. */
  readonly reason?: { readonly part: 'supportedInteraction' | 'fhirPathCriteria'; readonly text: string };
}

/** One version of the history, and the topic's result for it. */
export interface VersionVerdict {
  readonly version: StoredVersion;
  readonly interaction: Interaction;
  readonly triggers: readonly TriggerVerdict[];
}

/** A part of a trigger, and the versions for which it was the first that was not true. */
export interface UnmetPart {
  readonly index: number;
  readonly reason: NonNullable<TriggerVerdict['reason']>;
  readonly versions: number;
}

export interface DryRunResult {
  /** The listed versions, oldest first. */
  readonly listed: readonly VersionVerdict[];
  /** Why versions did not fire, the most frequent part first. */
  readonly unmet: readonly UnmetPart[];
  readonly examined: number;
  /** Times of the versions that would have been delivered. */
  readonly matchedAt: readonly Date[];
  readonly undecided: number;
  /** The position of the next page; absent at the end of the window. */
  readonly next?: HistoryPosition;
}
