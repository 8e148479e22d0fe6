import { Injectable } from '@nestjs/common';
import { compileClause, type Criterion, type Versions } from '../../fhirpath/fhirpath';
import { type EndSignal } from '../../platform/admission/request-end';
import { Slots } from '../../platform/admission/slots';
import { Environment } from '../../platform/config/environment';
import { RequestContext } from '../../platform/request/request-context';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type Interaction } from '../../resource/hooks/resource-change';
import { ResourceHistory } from '../../resource/resource-history';
import { ResourceReader } from '../../store/resource-reader';
import { type StoredVersion } from '../../model/stored-resource';
import { CriteriaEvaluation, type Decision, type LoadReferences } from '../criteria/criteria-evaluation';
import { ReadableFocus } from '../events/readable-focus';
import { textsOf } from '../criteria/reference-lookup';
import { changeOf } from '../criteria/topic-criteria';
import { type TopicTrigger } from '../topics/topic';
import { clausesOf } from './criteria-clauses';
import { DryRunAnswer, type DryRunValues, type TriggerVerdict } from './dry-run-answer';
import { type DryRunRequest } from './dry-run-request';

/** A trigger with the clauses of its criterion, each of which must be true. */
interface TriggerClauses {
  readonly trigger: TopicTrigger;
  readonly clauses: readonly { readonly text: string; readonly criteria: Criterion }[];
}

/** How many versions are read at once. Each may be large, and the version before it is read too. */
const CHUNK = 100;

const MAX_EXAMINED = 20_000;
const MAX_MILLISECONDS = 10_000;

/** Evaluates a topic on past versions, as if it had been active then. A dry run ends when its caller disconnects. */
@Injectable()
export class TopicDryRun {
  private readonly evaluation: CriteriaEvaluation;
  /** There are few slots, since many dry runs at once would slow down the searches of other callers. */
  private readonly slots = new Slots({
    permits: 2,
    perCaller: 1,
    longestWaitMilliseconds: 10_000,
    busyMessage: 'Other dry runs are under way. Try again in a few seconds.',
  });

  constructor(
    private readonly history: ResourceHistory,
    private readonly reader: ResourceReader,
    private readonly readable: ReadableFocus,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
    environment: Environment,
  ) {
    // Dry runs have a separate CPU budget: the slow criterion of a draft must not make the server skip criteria of
    // active topics.
    this.evaluation = new CriteriaEvaluation(new CpuBudget(), environment, slices);
  }

  /** @throws ServiceError 'busy' when no slot becomes free in time, also because of a dry run of the same caller */
  run(request: DryRunRequest): Promise<DryRunValues> {
    const { ticket } = this.requests;
    return this.slots.run(ticket, () => this.examine(request, ticket.signal));
  }

  private async examine(request: DryRunRequest, signal: EndSignal): Promise<DryRunValues> {
    const { topic, start, end, count, fires, after } = request;
    const triggers: TriggerClauses[] = [];
    for (const trigger of topic.triggers) triggers.push(await this.slices.run(triggerClausesOf(trigger)));
    const types = [...new Set(topic.triggers.map(({ type }) => type))];
    const endsAt = performance.now() + MAX_MILLISECONDS;
    const answer = new DryRunAnswer(request);
    // A call that lists all versions examines only as many as it lists. Any other call continues to count.
    const mostExamined = count === 0 || fires !== undefined ? MAX_EXAMINED : count;
    let from = after;
    let isOver = types.length === 0;
    while (!isOver && answer.examined < mostExamined && performance.now() < endsAt) {
      signal.throwIfAborted();
      const most = Math.min(CHUNK, mostExamined - answer.examined);
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
      await this.examineVersions(inWindow, triggers, answer);
    }
    return answer.values(isOver ? undefined : from);
  }

  private async examineVersions(
    versions: readonly StoredVersion[],
    triggers: readonly TriggerClauses[],
    answer: DryRunAnswer,
  ): Promise<void> {
    const visible = [...(await this.readable.among(versions))];
    const earlier = await this.reader.findVersions(
      visible.filter(({ version }) => version > 1).map((one) => ({ ...one, version: one.version - 1 })),
    );
    const texts = new Map(earlier.map((one) => [`${one.type}/${one.id}/${one.version}`, one.text]));
    const pause = this.slices.pauses();
    for (const version of visible) {
      await pause();
      const previous = texts.get(`${version.type}/${version.id}/${version.version - 1}`);
      const interaction = version.text === undefined ? 'delete' : previous === undefined ? 'create' : 'update';
      const change = changeOf(version.text, previous);
      const verdicts: TriggerVerdict[] = [];
      for (const [index, one] of triggers.entries())
        if (one.trigger.type === version.type) verdicts.push({ index, ...(await this.ask(one, interaction, change)) });
      answer.add(version, interaction, verdicts);
    }
  }

  private async ask(
    { trigger, clauses }: TriggerClauses,
    interaction: Interaction,
    change: Versions,
  ): Promise<Omit<TriggerVerdict, 'index'>> {
    if (!trigger.interactions.includes(interaction)) {
      const supported = trigger.interactions.join(', ');
      return { decision: false, reason: { failed: 'supportedInteraction', supported } };
    }
    if (trigger.criteria === undefined) return { decision: true };
    const decision = await this.decide(trigger.criteria, change);
    if (decision !== false) return { decision };
    for (const { text, criteria } of clauses) {
      if ((await this.decide(criteria, change)) !== true)
        return { decision, reason: { failed: 'fhirPathCriteria', clause: text } };
    }
    return { decision };
  }

  private async decide(criteria: Criterion, change: Versions): Promise<Decision> {
    const [decision] = await this.evaluation.decide([criteria], change, this.load);
    return decision;
  }

  /** Reads the targets of references as they are now: their state at the time of the version is unknown. */
  private readonly load: LoadReferences = async (wanted) =>
    textsOf(this.reader, [...(await this.readable.reachable(wanted))]);
}

/** Compiles the clauses of a trigger. It runs in steps, because a criterion may have hundreds of clauses. */
function* triggerClausesOf(trigger: TopicTrigger): Steps<TriggerClauses> {
  const { type, expression } = trigger;
  const clauses: { text: string; criteria: Criterion }[] = [];
  for (const text of expression === undefined ? [] : clausesOf(expression)) {
    clauses.push({ text, criteria: compileClause(text, type) });
    yield;
  }
  return { trigger, clauses };
}
