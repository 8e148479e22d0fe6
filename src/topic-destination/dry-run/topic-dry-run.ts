import { Injectable } from '@nestjs/common';
import { type Criterion, compileCriterion } from '../../fhirpath/fhirpath';
import { type EndSignal } from '../../platform/admission/request-end';
import { Slots } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';
import { RequestContext } from '../../platform/request/request-context';
import { Clock } from '../../platform/time/clock';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type Interaction } from '../../resource/hooks/resource-change';
import { ResourceHistory } from '../../resource/resource-history';
import { ResourceReader } from '../../store/resource-reader';
import { type StoredVersion } from '../../model/stored-resource';
import { ChangedTexts } from '../criteria/changed-texts';
import { CriteriaEvaluation, type Decision, type LoadReferences } from '../criteria/criteria-evaluation';
import { ReadableFocus } from '../events/readable-focus';
import { textsOf } from '../criteria/reference-lookup';
import { type TopicTrigger } from '../topics/topic';
import { clausesOf } from './criteria-clauses';
import { type DryRunRequest } from './dry-run-request';
import { type DryRunResult, type TriggerVerdict, type VersionVerdict } from './dry-run-result';
import { DryRunTally } from './dry-run-tally';

/** A trigger with the clauses of its criterion; each must hold. */
interface TriggerClauses {
  readonly trigger: TopicTrigger;
  readonly clauses: readonly { readonly text: string; readonly criteria: Criterion }[];
}

/** Versions read at once: each may be large, and is read together with its predecessor. */
const CHUNK = 100;

/** Limits for a call that only counts. */
const MAX_EXAMINED = 20_000;
const MAX_MILLISECONDS = 10_000;

/** Dry runs may wait; many at once would slow down other callers' searches. */
const LONGEST_WAIT_MILLISECONDS = 10_000;

/** Evaluates a topic on past versions, as if it had been active then. Ends when the caller disconnects. */
@Injectable()
export class TopicDryRun {
  private readonly evaluation: CriteriaEvaluation;
  private readonly slots = new Slots({
    permits: 2,
    perCaller: 1,
    longestWaitMilliseconds: LONGEST_WAIT_MILLISECONDS,
    busyMessage: 'Other dry runs are under way. Try again in a few seconds.',
  });

  constructor(
    private readonly history: ResourceHistory,
    private readonly reader: ResourceReader,
    private readonly readable: ReadableFocus,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
    clock: Clock,
    environment: Environment,
  ) {
    // A separate budget: a slow draft must not leave active criteria undecided.
    this.evaluation = new CriteriaEvaluation(new CpuBudget(clock), environment, slices);
  }

  /** @throws ServiceError 'busy' when too many dry runs wait, or the caller already runs one. */
  run(request: DryRunRequest): Promise<DryRunResult> {
    const { caller: key, signal } = this.requests.ticket;
    return this.slots.run({ key, signal }, () => this.examine(request, signal));
  }

  private async examine(request: DryRunRequest, signal: EndSignal): Promise<DryRunResult> {
    const { topic, start, end, count, fires, after } = request;
    const triggers: TriggerClauses[] = [];
    for (const trigger of topic.triggers) triggers.push(await this.slices.run(triggerClausesOf(trigger)));
    const types = [...new Set(topic.triggers.map(({ type }) => type))];
    const endsAt = performance.now() + MAX_MILLISECONDS;
    const tally = new DryRunTally(count, fires);
    // A list of all versions ends with them; else a call goes on counting.
    const mostExamined = count === 0 || fires !== undefined ? MAX_EXAMINED : count;
    let from = after;
    let isOver = types.length === 0;
    while (!isOver && tally.examined < mostExamined && performance.now() < endsAt) {
      signal.throwIfAborted();
      const most = Math.min(CHUNK, mostExamined - tally.examined);
      const page = await this.history.wholePage({
        scope: { types, since: start },
        walk: { direction: 'newer', skip: 0, ...(from === undefined ? {} : { from }) },
        count: most,
        hasTotal: false,
      });
      const found = page.versions.toReversed();
      const inWindow = found.filter(({ updatedAt }) => updatedAt.getTime() <= end.getTime());
      isOver = !page.hasMore || inWindow.length < found.length;
      from = inWindow.at(-1) ?? from;
      for (const verdict of await this.verdictsOf(inWindow, triggers)) tally.add(verdict);
    }
    return tally.result(isOver ? undefined : from);
  }

  private async verdictsOf(
    versions: readonly StoredVersion[],
    triggers: readonly TriggerClauses[],
  ): Promise<VersionVerdict[]> {
    const visible = [...(await this.readable.among(versions))];
    const earlier = await this.reader.findVersions(
      visible.filter(({ version }) => version > 1).map((one) => ({ ...one, version: one.version - 1 })),
    );
    const texts = new Map(earlier.map((one) => [`${one.type}/${one.id}/${one.version}`, one.text]));
    const verdicts: VersionVerdict[] = [];
    const pause = this.slices.pauses();
    for (const version of visible) {
      await pause();
      const previous = texts.get(`${version.type}/${version.id}/${version.version - 1}`);
      const interaction = version.text === undefined ? 'delete' : previous === undefined ? 'create' : 'update';
      const change = new ChangedTexts(version.text, previous);
      const own = triggers.filter(({ trigger }) => trigger.type === version.type);
      const found: TriggerVerdict[] = [];
      for (const one of own)
        found.push({ index: triggers.indexOf(one), ...(await this.ask(one, interaction, change)) });
      verdicts.push({ version, interaction, triggers: found });
    }
    return verdicts;
  }

  private async ask(
    { trigger, clauses }: TriggerClauses,
    interaction: Interaction,
    change: ChangedTexts,
  ): Promise<Omit<TriggerVerdict, 'index'>> {
    if (!trigger.interactions.includes(interaction))
      return { decision: false, reason: { part: 'supportedInteraction', text: trigger.interactions.join(', ') } };
    if (trigger.criteria === undefined) return { decision: true };
    const decision = await this.decide(trigger.criteria, change);
    if (decision !== false) return { decision };
    for (const { text, criteria } of clauses) {
      if ((await this.decide(criteria, change)) !== true)
        return { decision, reason: { part: 'fhirPathCriteria', text } };
    }
    return { decision };
  }

  private async decide(criteria: Criterion, change: ChangedTexts): Promise<Decision> {
    const [decision] = await this.evaluation.decide([criteria], change, this.load);
    return decision;
  }

  /** Current targets: those at the time of the version are not kept. */
  private readonly load: LoadReferences = async (wanted) =>
    textsOf(this.reader, [...(await this.readable.reachable(wanted))]);
}

/** In steps, because a criterion may have hundreds of clauses. */
function* triggerClausesOf(trigger: TopicTrigger): Steps<TriggerClauses> {
  const { type, expression } = trigger;
  const clauses: { text: string; criteria: Criterion }[] = [];
  for (const text of expression === undefined ? [] : clausesOf(expression)) {
    clauses.push({ text, criteria: compileCriterion(text, type, true) });
    yield;
  }
  return { trigger, clauses };
}
