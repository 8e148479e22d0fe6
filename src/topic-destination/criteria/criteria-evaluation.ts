import { Injectable } from '@nestjs/common';
import { type Criterion, type Versions } from '../../fhirpath/fhirpath';
import { Environment } from '../../platform/config/environment';
import { TooCostly } from '../../platform/errors/too-costly';
import { CpuBudget } from '../../platform/time/cpu-budget';
import { longestStepOn, Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type ResourceName } from '../../model/stored-resource';
import { ReferenceLookup } from './reference-lookup';

/** The CPU time that is left for the criteria of one write, which waits for them. Each takes about 1 to 100 µs. */
export class WriteTime {
  millisecondsLeft = 250;
}

/** Cost (characters of the resource times nodes of the criteria) that needs no time limit: it takes about 2 ms. */
const UNWATCHED_COST = 2_000_000;

/** Maximum number of levels of references that are followed by `resolve()`. */
const MAX_ROUNDS = 3;
const MAX_REFERENCES = 100;

/** The result of a criterion for a change; undefined if the criterion cannot be evaluated or takes too long. */
export type Decision = boolean | undefined;

/** Reads the targets of `resolve()`: the texts of those that are stored, by key (`Patient/p7`). */
export type LoadReferences = (wanted: readonly ResourceName[]) => Promise<ReadonlyMap<string, string>>;

/** Evaluates criteria. Users write them, so no criterion may block the process. */
@Injectable()
export class CriteriaEvaluation {
  constructor(
    private readonly budget: CpuBudget,
    private readonly environment: Environment,
    private readonly slices: Slices,
  ) {}

  /**
   * Returns one decision for each criterion, in order. When the CPU time of the write is used up, the remaining
   * criteria stay undecided.
   * @param time the CPU time that is left for the write; several calls for one write share it
   */
  async decide(
    criteria: readonly Criterion[],
    change: Versions,
    load: LoadReferences,
    time = new WriteTime(),
  ): Promise<Decision[]> {
    const known = new Map<string, string | undefined>();
    const work = new WriteWork(criteria, change, this.budget, this.slices, time);
    const costAt = (place: number): number => criterionCost(criteria[place]);
    // Cheap criteria come first, so that a costly criterion cannot use up their time.
    let open: readonly number[] = [...criteria.keys()].sort((a, b) => costAt(a) - costAt(b));
    for (let round = 0; round < MAX_ROUNDS && open.length > 0; round++) {
      const lookup = new ReferenceLookup(change, known, this.environment.baseUrl);
      open = await work.run(open, lookup);
      if (open.length === 0 || known.size + lookup.wanted.size > MAX_REFERENCES) break;
      const found = await load([...lookup.wanted.values()]);
      for (const key of lookup.wanted.keys()) known.set(key, found.get(key));
    }
    return work.decisions;
  }
}

const criterionCost = (criterion: Criterion | undefined): number => criterion?.cost ?? 0;

/** Evaluates the criteria of one write under one time limit. */
class WriteWork {
  readonly decisions: Decision[];

  constructor(
    private readonly criteria: readonly Criterion[],
    private readonly change: Versions,
    private readonly budget: CpuBudget,
    private readonly slices: Slices,
    private readonly time: WriteTime,
  ) {
    this.decisions = criteria.map(() => undefined);
  }

  /** Decides the criteria at `places`, in time slices. @returns the places of those that need further references */
  async run(places: readonly number[], lookup: ReferenceLookup): Promise<readonly number[]> {
    const { current, previous } = this.change;
    const length = (current?.length ?? 0) + (previous?.length ?? 0);
    const cost = places.reduce((sum, place) => sum + criterionCost(this.criteria[place]), 0) * length;
    if (cost <= UNWATCHED_COST) return places.filter((place) => this.isWaiting(place, lookup));
    const waiting: number[] = [];
    const open = [...places];
    while (open.length > 0 && this.time.millisecondsLeft > 0) {
      const ofOne = Math.min(longestStepOn(length), Math.ceil(this.time.millisecondsLeft));
      let tries = 0;
      const begin = (): Steps<void> => {
        // The criterion that was interrupted in the first try is evaluated again, and both evaluations count.
        if (tries++ > 0) this.spend(open[0], ofOne);
        return this.decided(open, waiting, lookup);
      };
      try {
        await this.slices.runLimited(begin, { ofOne, ofAll: Infinity });
      } catch (error) {
        if (!(error instanceof TooCostly)) throw error;
        // This criterion stays undecided. The others are still evaluated.
        this.spend(open.shift(), ofOne);
      }
    }
    return waiting;
  }

  /** Evaluates the criteria in `open`, and removes each from `open` when its evaluation has ended. */
  private *decided(open: number[], waiting: number[], lookup: ReferenceLookup): Steps<void> {
    for (let [place] = open; place !== undefined && this.time.millisecondsLeft > 0; [place] = open) {
      const criterion = this.criteria[place];
      const startsAt = performance.now();
      if (criterion !== undefined && this.budget.allows(criterion) && this.isWaiting(place, lookup))
        waiting.push(place);
      this.spend(open.shift(), performance.now() - startsAt);
      yield;
    }
  }

  private spend(place: number | undefined, milliseconds: number): void {
    this.time.millisecondsLeft -= milliseconds;
    if (place !== undefined) this.budget.spend(this.criteria[place], milliseconds);
  }

  private isWaiting(place: number, lookup: ReferenceLookup): boolean {
    const missesBefore = lookup.misses;
    const decision = this.decisionOf(place, lookup);
    if (lookup.misses > missesBefore) return true;
    this.decisions[place] = decision;
    return false;
  }

  private decisionOf(place: number, { resolve }: ReferenceLookup): Decision {
    try {
      return this.criteria[place]?.matches(this.change, resolve);
    } catch (error) {
      // A timeout error comes from another JavaScript realm, so it is no instance of this `Error`.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }
}
