import type { Call, Connection } from './connection.js';
import { type Part, valuesOf } from './parameters.js';
import type { Schemas } from './types.js';

export type Topic = Schemas['SvcSubscriptionTopic'];

/** Scope and contents of a `dryRun`. */
export interface DryRunOptions {
  /** The last 24 hours before `end` by default. */
  readonly start?: string;
  /** Now by default. */
  readonly end?: string;
  /** Versions to list, at most 1,000. */
  readonly count?: number;
  /** Lists only the newest versions that fire, or that do not, while all are counted. */
  readonly fires?: boolean;
}

/** The part of a trigger that was the first not to match. */
export interface UnmetReason {
  readonly index: number;
  readonly failed: 'supportedInteraction' | 'fhirPathCriteria';
  readonly clause?: string;
  readonly supported?: string;
}

/** One version of the history, and whether the topic would have fired for it. */
export interface DryRunVersion {
  /** With its version: `Patient/p7/_history/3`. */
  readonly reference: string;
  readonly time: string;
  readonly interaction: string;
  readonly fires: boolean;
  readonly triggers: readonly (Partial<UnmetReason> & {
    readonly index: number;
    readonly fires: boolean;
    readonly undecided?: string;
  })[];
}

export interface DryRun {
  readonly start: string;
  readonly end: string;
  /** False where the window has more versions than one call examines. */
  readonly isComplete: boolean;
  readonly versionsExamined: number;
  readonly events: number;
  readonly undecided: number;
  readonly eventsPerHour: number;
  readonly busiestHour?: { readonly start: string; readonly events: number };
  /** The parts that kept versions from firing, the most frequent one first. */
  readonly unmet: readonly (UnmetReason & { readonly versions: number })[];
  /** Oldest first. */
  readonly versions: readonly DryRunVersion[];
}

/** Topics: which writes are events. */
export class Topics {
  constructor(private readonly connection: Connection) {}

  /** Lists writes of the history that would have been events of a topic, stored or not. */
  async dryRun(topic: Topic, options: DryRunOptions = {}, call: Pick<Call, 'signal'> = {}): Promise<DryRun> {
    const { start, end, count, fires } = options;
    const answer = await this.connection.json<{ readonly parameter?: readonly Part[] }>(
      'POST',
      '/fhir/SvcSubscriptionTopic/$dry-run',
      {
        ...call,
        query: { start, end, _count: count, _fires: fires },
        body: topic,
      },
    );
    const {
      version = [],
      unmet = [],
      ...counts
    } = valuesOf<Answered>(answer.parameter, ['version', 'trigger', 'unmet']);
    return { ...counts, unmet, versions: version.map(versionOf) };
  }
}

type Answered = Omit<DryRun, 'unmet' | 'versions'> & Partial<Pick<DryRun, 'unmet'>> & { readonly version?: Listed[] };

type Listed = Omit<DryRunVersion, 'reference' | 'triggers'> & {
  readonly reference: { readonly reference: string };
  readonly trigger?: DryRunVersion['triggers'];
};

const versionOf = ({ reference, trigger: triggers = [], ...version }: Listed): DryRunVersion => ({
  ...version,
  reference: reference.reference,
  triggers,
});
