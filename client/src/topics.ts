import type { Call, Connection } from './connection.js';
import { type Part, valuesOf } from './parameters.js';
import type { Schemas } from './types.js';

export type Topic = Schemas['SvcSubscriptionTopic'];

/** Options of a `dryRun`: the period, and what is listed. */
export interface DryRunOptions {
  /** Start of the period; by default, 24 hours before `end`. */
  readonly start?: string;
  /** End of the period; by default, the present time. */
  readonly end?: string;
  /** Maximum number of versions to list; it may be up to 1,000. */
  readonly count?: number;
  /** Lists only versions that fire (true) or that do not (false). All versions are still counted. */
  readonly fires?: boolean;
}

/** The part of a trigger that was the first not to match a version. */
export interface UnmetReason {
  readonly index: number;
  readonly failed: 'supportedInteraction' | 'fhirPathCriteria';
  readonly clause?: string;
  readonly supported?: string;
}

/** A version in the history, and whether the topic would have fired for it. */
export interface DryRunVersion {
  /** Reference with the version: `Patient/p7/_history/3`. */
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
  /** False if the period has more versions than one call examines. */
  readonly isComplete: boolean;
  readonly versionsExamined: number;
  readonly events: number;
  readonly undecided: number;
  readonly eventsPerHour: number;
  readonly busiestHour?: { readonly start: string; readonly events: number };
  /** The parts of triggers that kept versions from firing, the most frequent part first. */
  readonly unmet: readonly (UnmetReason & { readonly versions: number })[];
  /** The listed versions, oldest first. */
  readonly versions: readonly DryRunVersion[];
}

/** Topics, which define the writes that are events. */
export class Topics {
  constructor(private readonly connection: Connection) {}

  /** Lists writes in the history that would have been events of a topic. The topic need not be stored. */
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
