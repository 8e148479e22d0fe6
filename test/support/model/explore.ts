/** A machine whose steps may happen in any order. States are plain values that steps never change in place. */
export interface Model<State> {
  readonly start: State;
  /** Every possible next step: its description, and the state after it. */
  steps(state: State): Iterable<readonly [what: string, next: State]>;
  /** Returns the violated invariant of a state; undefined if there is none. */
  broken(state: State): string | undefined;
  /** A key of the state. States with the same key have the same behavior. */
  keyOf(state: State): string;
}

/** The result of the exploration of a model. */
export interface Exploration {
  readonly states: number;
  /** The shortest path to a state with a violated invariant, which is the last line; undefined if there is none. */
  readonly path: readonly string[] | undefined;
}

interface Visit<State> {
  readonly state: State;
  readonly what: string;
  readonly from: Visit<State> | undefined;
}

/** Visits every reachable state, the nearest first, until one violates an invariant. */
export function explore<State>(model: Model<State>): Exploration {
  const seen = new Set([model.keyOf(model.start)]);
  const visits: Visit<State>[] = [{ state: model.start, what: 'start', from: undefined }];
  for (const visit of visits) {
    const broken = model.broken(visit.state);
    if (broken !== undefined) return { states: seen.size, path: [...pathTo(visit), broken] };
    for (const [what, state] of model.steps(visit.state)) {
      const key = model.keyOf(state);
      if (seen.has(key)) continue;
      seen.add(key);
      visits.push({ state, what, from: visit });
    }
  }
  return { states: seen.size, path: undefined };
}

/** The path as text. `SHOW_PATHS` prints it, to show the consequences of a defect. */
export function textOf({ path = [] }: Exploration): string {
  const text = path.join('\n');
  if (process.env.SHOW_PATHS !== undefined) process.stdout.write(`\n${text}\n`);
  return text;
}

function pathTo<State>({ from, what }: Visit<State>): string[] {
  const path: string[] = [];
  let [step, before] = [what, from];
  while (before !== undefined) {
    path.push(step);
    [step, before] = [before.what, before.from];
  }
  return path.reverse();
}
