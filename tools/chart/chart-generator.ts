import { stringify } from 'lossless-json';
import { recordAllergy } from './allergy';
import { bill } from './billing';
import { introduceCast } from './cast';
import { Chart, type ChartItem } from './chart';
import { writeNote } from './document';
import { immunize } from './immunization';
import { runLaboratory } from './laboratory';
import { CHART_END, dayBetween, minutesAfter } from './life-time';
import { prescribe } from './medication';
import { type Problem, recordAcuteProblem, recordChronicProblem } from './problem';
import { performProcedure } from './procedure';
import { Random } from './random';
import { isDue, openEncounter, type Visit } from './visit';
import { takeTemperatureOfParent, takeVitalSigns } from './vital-signs';

export interface ChartOptions {
  readonly seed: number;
  /** Number of resources; a tiny chart has the people first, then the first visit. */
  readonly size?: number;
  /** Prefix of every id; another prefix makes a second, independent chart. */
  readonly idPrefix?: string;
}

export interface ChartEntry {
  readonly resourceType: string;
  readonly id: string;
  /** The resource as JSON text, in which decimals keep their trailing zeros (`5.40`). */
  readonly body: string;
  /** Whether the resource belongs to the compartment of the chart's patient, according to the generator itself. */
  readonly inPatientCompartment: boolean;
}

export interface GeneratedChart {
  readonly patientId: string;
  /**
   * The resources of the chart. References point backwards in this order. Each iteration generates the same entries
   * again, one at a time.
   */
  readonly entries: Iterable<ChartEntry>;
}

const DEFAULT_SIZE = 300;

/**
 * Generates the chart of one patient: FHIR R4 (4.0.1) resources from registration to `CHART_END`. The same options give
 * the same bytes; only the current visit is in memory.
 */
export function generateChart({
  seed,
  size = DEFAULT_SIZE,
  idPrefix = `chart-${seed}-`,
}: ChartOptions): GeneratedChart {
  return {
    patientId: `${idPrefix}patient-1`,
    entries: { [Symbol.iterator]: () => entriesOf(new Chart(new Random(seed), idPrefix), size) },
  };
}

function* entriesOf(chart: Chart, size: number): Generator<ChartEntry, void> {
  let made = 0;
  for (const { resource, inPatientCompartment } of lifeOf(chart, () => made / size)) {
    if (made === size) return;
    made += 1;
    const { resourceType, id } = resource;
    yield { resourceType, id, body: stringify(resource) ?? '', inPatientCompartment };
  }
}

/**
 * Yields the whole life. The visits are spread over it in proportion to the generated part, so that a chart of any size
 * covers all of it.
 */
function* lifeOf(chart: Chart, progress: () => number): Generator<ChartItem, void> {
  const cast = yield* introduceCast(chart);
  const problems: Problem[] = [];
  for (let isFirst = true; ; isFirst = false) {
    const day = dayBetween(cast.registration, CHART_END, progress());
    const start = minutesAfter(day, 8 * 60 + 5 * chart.random.integer(0, 96));
    const end = minutesAfter(start, chart.random.integer(20, 45));
    const encounter = yield* openEncounter(chart, cast, { start, end });
    yield* visitTopics({ chart, cast, encounter, start, end, isFirst }, problems);
  }
}

function* visitTopics(visit: Visit, problems: Problem[]): Generator<ChartItem, void> {
  const { random } = visit.chart;
  if (visit.isFirst) yield* recordAllergy(visit);
  const chronic = isDue(visit, 0.15) ? yield* recordChronicProblem(visit, problems) : undefined;
  if (chronic) problems.push(chronic);
  const problem = chronic ?? (random.chance(0.4) ? yield* recordAcuteProblem(visit) : random.pick(problems));
  yield* prescribe(visit, problem);
  if (isDue(visit, 0.25)) yield* immunize(visit);
  if (isDue(visit, 0.35)) yield* performProcedure(visit);
  yield* takeVitalSigns(visit);
  if (isDue(visit, 0.6)) yield* runLaboratory(visit);
  if (isDue(visit, 0.5)) yield* writeNote(visit);
  if (isDue(visit, 0.7)) yield* bill(visit);
  if (isDue(visit, 0.1)) yield* takeTemperatureOfParent(visit);
}
