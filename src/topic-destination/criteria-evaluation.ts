import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Criterion } from '../fhirpath/fhirpath';
import { Environment } from '../platform/config/environment';
import { withinTime } from '../platform/time/within-time';
import { type ChangedTexts } from './changed-texts';
import { CpuBudget } from './cpu-budget';
import { ReferenceLookup, type WantedResource } from './reference-lookup';

/** CPU time that all criteria together may take of one write: it waits for them. They take some 1 to 100 µs each. */
const MAX_MILLISECONDS = 250;

/** Others are served after this time. */
const SLICE_MILLISECONDS = 5;

/** Characters of the resource times nodes of the criteria: so much takes about 2 ms, and needs nobody to watch the time. */
const UNWATCHED_COST = 2_000_000;

/** References of references of references. */
const MAX_ROUNDS = 3;
const MAX_REFERENCES = 100;

/** What criteria say of a change; undefined where they cannot be evaluated, or take too long. */
export type Decision = boolean | undefined;

/** Reads what `resolve()` leads to: texts by key (`Patient/p7`), of those that are stored. */
export type LoadReferences = (wanted: readonly WantedResource[]) => Promise<ReadonlyMap<string, string>>;

/** Evaluates criteria, which users write, so that none of them holds up the process. */
@Injectable()
export class CriteriaEvaluation {
  constructor(
    private readonly budget: CpuBudget,
    private readonly environment: Environment,
  ) {}

  /** One decision for each criterion, in their order. Beyond the budget of the write they are undecided. */
  async decide(criteria: readonly Criterion[], change: ChangedTexts, load: LoadReferences): Promise<Decision[]> {
    const known = new Map<string, string | undefined>();
    const work = new WriteWork(criteria, change, this.budget);
    // The cheap ones first: what a dear one takes costs them nothing.
    let open: readonly number[] = [...criteria.keys()].sort((a, b) => costOf(criteria[a]) - costOf(criteria[b]));
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

const costOf = (criterion: Criterion | undefined): number => criterion?.cost ?? 0;

/** The criteria of one write, under one limit of time. */
class WriteWork {
  readonly decisions: Decision[];
  private millisecondsLeft = MAX_MILLISECONDS;
  private running: { readonly criterion: Criterion; readonly since: number } | undefined;

  constructor(
    private readonly criteria: readonly Criterion[],
    private readonly change: ChangedTexts,
    private readonly budget: CpuBudget,
  ) {
    this.decisions = criteria.map(() => undefined);
  }

  /** Decides those at `places`, in slices of time. @returns the places of those that wait for references */
  async run(places: readonly number[], lookup: ReferenceLookup): Promise<readonly number[]> {
    const waiting: number[] = [];
    const cost = places.reduce((sum, place) => sum + costOf(this.criteria[place]), 0) * this.change.length;
    if (cost <= UNWATCHED_COST) return places.filter((place) => this.isWaiting(place, lookup));
    for (let next = 0; next < places.length && this.millisecondsLeft > 0;) {
      const startsAt = performance.now();
      const isInTime = withinTime(Math.ceil(this.millisecondsLeft), () => {
        do {
          const place = places[next++] ?? 0;
          if (this.isWatchedWaiting(place, lookup)) waiting.push(place);
        } while (next < places.length && performance.now() - startsAt < SLICE_MILLISECONDS);
        return true;
      });
      // An interrupted slice has used all that was left, also where the clock reads a little less.
      this.millisecondsLeft = isInTime === undefined ? 0 : this.millisecondsLeft - (performance.now() - startsAt);
      if (isInTime === undefined) this.noteEnd();
      if (next < places.length) await nextTurn();
    }
    return waiting;
  }

  private isWatchedWaiting(place: number, lookup: ReferenceLookup): boolean {
    const criterion = this.criteria[place];
    if (criterion === undefined || !this.budget.allows(criterion)) return false;
    this.running = { criterion, since: this.budget.now() };
    const isWaiting = this.isWaiting(place, lookup);
    this.noteEnd();
    return isWaiting;
  }

  /** Also of a criterion that was interrupted: of its own it does not get here. */
  private noteEnd(): void {
    if (this.running !== undefined) this.budget.spend(this.running.criterion, this.running.since);
    this.running = undefined;
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
      // The end of the time is no Error of this realm, and not ours to take.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }
}
