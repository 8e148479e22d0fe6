import { earliestInstant, latestInstant } from '../../fhir/instant';
import { localKey } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { addTo } from '../../platform/lists-by-key';
import { memoized } from '../../platform/memoized';
import { type Steps } from '../../platform/time/steps';
import { compositeRows } from './composite-rows';
import { Extraction } from './extraction';
import { type RowHashes } from './row-hashes';
import { type SearchParameter } from './search-parameter';
import { type SearchParameterSet } from './search-parameter-set';
import { type DateRow, type SearchRows } from './search-rows';
import { valueRows } from './value-rows';
import { type Step, type Visit, visitEach, walkSteps } from '../../fhirpath/fhirpath';

/**
 * Derives the index rows of one resource, in steps. Values of an unexpected shape give no rows and no error. Only a
 * resource with too many pairs of composites is refused.
 */
type Extract = (resource: Readonly<Record<string, unknown>>, options?: ExtractOptions) => Steps<SearchRows>;

interface ExtractOptions {
  /** Number of characters of the resource. A large resource is read with pauses, a small one at once. */
  readonly characters?: number;
  readonly maxPairs?: number | undefined;
}

/** Resources with more characters are read in steps: their lists may be long, at any depth. */
const LARGE_CHARACTERS = 16_384;

/** Values that are read between two pauses, since each may give dozens of rows. */
const VALUES_AT_ONCE = 64;

export type ExtractorOf = (type: string) => Extract;

/**
 * Creates and caches an extractor per resource type.
 * @param baseUrl the server's base URL, without a trailing slash: references below it are local
 */
export const extractorsBy = (parameters: SearchParameterSet, hashes: RowHashes, baseUrl: string): ExtractorOf =>
  memoized((type) => makeExtractor(type, parameters, hashes, baseUrl));

/** The paths of a type: those that start at the whole resource, and those that start at a member. */
interface Plan {
  readonly whole: Path[];
  readonly byMember: Map<string, Path[]>;
}

interface Path {
  readonly steps: readonly Step[];
  /** Whether the path leads to the items of a composite, in which all values of an item are paired. */
  readonly isOfItems: boolean;
  readonly write: Visit<Extraction>;
  /** The steps and `write` in one function: quick, but without pauses. */
  readonly walk: Visit<Extraction>;
}

function makeExtractor(type: string, set: SearchParameterSet, hashes: RowHashes, baseUrl: string): Extract {
  const { whole, byMember } = planOf(set.list(type), set.patientParameter(type)?.storedAs ?? []);
  const mainDateIds = set.mainDateParameter(type)?.storedAs ?? [];
  return function* (resource, { characters = 0, maxPairs } = {}): Steps<SearchRows> {
    const isLarge = characters > LARGE_CHARACTERS;
    const extraction = new Extraction(resource, hashes, baseUrl, maxPairs);
    for (const path of whole) {
      if (isLarge) yield* walkInSteps(resource, path, extraction);
      else path.walk(resource, extraction);
    }
    // The loop goes over the members of the resource and not over the parameters. Most parameters have no value in a
    // resource, and so cost nothing.
    for (const member of Object.keys(resource)) {
      const paths = byMember.get(member);
      if (paths === undefined) continue;
      const value = resource[member];
      for (const path of paths) {
        if (isLarge) yield* walkInSteps(value, path, extraction);
        else visitEach(value, path.walk, extraction);
      }
    }
    yield* extraction.finish();
    const { present, tokens, references, dates, numbers, strings, units } = extraction;
    const mainDate = mainDateOf(dates, mainDateIds);
    const patientHash = type === 'Patient' ? ownHashOf(resource, hashes) : extraction.patientHash;
    return { mainDate, patientHash, present, tokens, references, dates, numbers, strings, units };
  };
}

/** Follows a path step by step for all values together, with pauses. */
function* walkInSteps(value: unknown, { steps, write, isOfItems }: Path, extraction: Extraction): Steps<void> {
  let values: unknown[] = [];
  visitEach(value, (item) => values.push(item), extraction);
  for (const step of steps) {
    const reached: unknown[] = [];
    yield* visitInSteps(
      values,
      step.walk((item) => reached.push(item)),
      extraction,
    );
    values = reached;
  }
  const parts = isOfItems ? values : values.flatMap(inParts);
  yield* visitInSteps(parts, write, extraction, parts.length > values.length ? 1 : VALUES_AT_ONCE);
}

/** Divides a CodeableConcept with many codings into several, for parameters of codings. */
function inParts(value: unknown): readonly unknown[] {
  if (!isObject(value) || !Array.isArray(value.coding) || value.coding.length <= VALUES_AT_ONCE) return [value];
  const { coding, ...others } = value as { readonly coding: readonly unknown[] };
  const parts: unknown[] = [];
  for (let at = 0; at < coding.length; at += VALUES_AT_ONCE)
    parts.push({ ...others, coding: coding.slice(at, at + VALUES_AT_ONCE) });
  return parts;
}

function* visitInSteps(
  values: readonly unknown[],
  visit: Visit<Extraction>,
  extraction: Extraction,
  atOnce = VALUES_AT_ONCE,
): Steps<void> {
  for (let at = 0; at < values.length; at += atOnce) {
    for (const value of values.slice(at, at + atOnce)) visit(value, extraction);
    yield;
  }
}

function planOf(parameters: readonly SearchParameter[], patientIds: readonly number[]): Plan {
  const plan: Plan = { whole: [], byMember: new Map() };
  for (const parameter of parameters) {
    if (parameter.composite !== undefined) {
      addComposite(plan, parameter);
      continue;
    }
    const visit = visitOf(parameter, patientIds);
    if (visit === undefined) continue;
    for (const { steps } of parameter.branches) addToPlan(plan, steps, visit);
  }
  return plan;
}

function addComposite(plan: Plan, { parameterId, storedAs, composite }: SearchParameter): void {
  if (!storedAs.includes(parameterId)) return;
  for (const { branch, parts } of composite?.rows ?? [])
    addToPlan(plan, branch.steps, compositeRows(parameterId, parts, composite?.hasSystem), true);
}

function addToPlan(plan: Plan, steps: readonly Step[], write: Visit<Extraction>, isOfItems = false): void {
  const member = steps[0]?.member;
  const rest = member === undefined ? steps : steps.slice(1);
  const path = { steps: rest, isOfItems, write, walk: walkSteps(rest, write) };
  if (member === undefined) plan.whole.push(path);
  else addTo(plan.byMember, member, path);
}

/**
 * The visitor of a parameter's values: it notes that a value is present, and writes rows if the parameter has its own.
 */
function visitOf(parameter: SearchParameter, patientIds: readonly number[]): Visit<Extraction> | undefined {
  const { parameterId, storedAs, presenceMask } = parameter;
  const isAlias = !storedAs.includes(parameterId);
  // A parameter served by the rows of others needs no visitor, since the visitors of the others note that a value is
  // present. Only a narrowing (`patient` of `subject`) has its own bit for this.
  if (isAlias && parameter.narrowedTo === undefined) return undefined;
  const write = isAlias ? undefined : valueRows(parameter.kind, parameterId, patientIds.includes(parameterId));
  return (value, extraction) => {
    extraction.present |= presenceMask;
    write?.(value, extraction);
  };
}

/** The clinical date of a resource: the earliest start of its dates. A period without a start counts by its end. */
function mainDateOf(dates: readonly DateRow[], parameterIds: readonly number[]): number | undefined {
  let earliest: number | undefined;
  for (const { parameterId, low, high } of dates) {
    if (!parameterIds.includes(parameterId)) continue;
    const start = low > earliestInstant || high === latestInstant ? low : high;
    if (earliest === undefined || start < earliest) earliest = start;
  }
  return earliest;
}

function ownHashOf({ id }: Readonly<Record<string, unknown>>, hashes: RowHashes): number {
  return typeof id === 'string' ? hashes.ofTarget(localKey('Patient', id)) : 0;
}
