import { earliestInstant, latestInstant } from '../../fhir/instant';
import { localKey } from '../../fhir/reference';
import { memoized } from '../../platform/memoized';
import { type Steps } from '../../platform/time/steps';
import { compositeRows } from './composite-rows';
import { Extraction } from './extraction';
import { type RowHashes } from './row-hashes';
import { type SearchParameter } from './search-parameter';
import { type SearchParameterSet } from './search-parameter-set';
import { type DateRow, type SearchRows } from './search-rows';
import { valueRows } from './value-rows';
import { type Visit, visitEach, walkSteps } from '../../fhirpath/fhirpath';

/**
 * Derives the index rows of one resource, in steps. Values of an unexpected shape give no rows and no error. Only a
 * resource with too many pairs of composites is refused.
 */
type Extract = (resource: Readonly<Record<string, unknown>>, maxPairs?: number) => Steps<SearchRows>;

/** Items of a repeated member that are read between two pauses, since each may give dozens of rows. */
const ITEMS_AT_ONCE = 64;

/** Returns the extractor of a resource type. */
export type ExtractorOf = (type: string) => Extract;

/**
 * Creates and caches an extractor per resource type.
 * @param baseUrl the server's base URL, without a trailing slash: references below it are local
 */
export const extractorsBy = (parameters: SearchParameterSet, hashes: RowHashes, baseUrl: string): ExtractorOf =>
  memoized((type) => makeExtractor(type, parameters, hashes, baseUrl));

/** The visitors (functions that turn values into rows) of a type: of the whole resource, and of each member. */
interface Plan {
  readonly whole: Visit<Extraction>[];
  readonly byMember: Map<string, Visit<Extraction>[]>;
}

function makeExtractor(type: string, set: SearchParameterSet, hashes: RowHashes, baseUrl: string): Extract {
  const { whole, byMember } = planOf(set.list(type), set.patientParameter(type)?.storedAs ?? []);
  const mainDateIds = set.mainDateParameter(type)?.storedAs ?? [];
  return function* (resource, maxPairs): Steps<SearchRows> {
    const extraction = new Extraction(resource, hashes, baseUrl, maxPairs);
    for (const visit of whole) visit(resource, extraction);
    // The loop goes over the members of the resource and not over the parameters. Most parameters have no value in a
    // resource, and so cost nothing.
    for (const member of Object.keys(resource)) {
      const visits = byMember.get(member);
      if (visits === undefined) continue;
      const value = resource[member];
      for (const visit of visits) {
        if (Array.isArray(value) && value.length > ITEMS_AT_ONCE) yield* visitInSteps(value, visit, extraction);
        else visitEach(value, visit, extraction);
      }
    }
    return {
      mainDate: mainDateOf(extraction.dates, mainDateIds),
      patientHash: type === 'Patient' ? ownHashOf(resource, hashes) : extraction.patientHash,
      present: (BigInt(extraction.presentHigh >>> 0) << 32n) | BigInt(extraction.presentLow >>> 0),
      tokens: extraction.tokens,
      references: extraction.references,
      dates: extraction.dates,
      numbers: extraction.numbers,
      strings: extraction.strings,
      units: extraction.units,
    };
  };
}

function* visitInSteps(items: readonly unknown[], visit: Visit<Extraction>, extraction: Extraction): Steps<void> {
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE) {
    visitEach(items.slice(at, at + ITEMS_AT_ONCE), visit, extraction);
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
    addToPlan(plan, branch.steps, compositeRows(parameterId, parts, composite?.knowsSystem));
}

function addToPlan(plan: Plan, steps: SearchParameter['branches'][number]['steps'], visit: Visit<Extraction>): void {
  const member = steps[0]?.member;
  if (member === undefined) {
    plan.whole.push(walkSteps(steps, visit));
    return;
  }
  const visits = plan.byMember.get(member) ?? [];
  visits.push(walkSteps(steps.slice(1), visit));
  plan.byMember.set(member, visits);
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
  const low = Number(BigInt.asIntN(32, presenceMask));
  const high = Number(BigInt.asIntN(32, presenceMask >> 32n));
  return (value, extraction) => {
    extraction.presentLow |= low;
    extraction.presentHigh |= high;
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
