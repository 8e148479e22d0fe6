import { type Cast } from './cast';
import { type Chart, type Recording, type Reference } from './chart';
import { concept, hl7Coding, hl7Concept } from './codes';
import { instantOf } from './life-time';

/** State shared within one visit. */
export interface Visit {
  readonly chart: Chart;
  readonly cast: Cast;
  readonly encounter: Reference;
  readonly start: Date;
  readonly end: Date;
  /** The first visit includes everything, so that even a tiny chart has every kind of record. */
  readonly isFirst: boolean;
}

export interface VisitTimes {
  readonly start: Date;
  readonly end: Date;
}

export function* openEncounter(chart: Chart, cast: Cast, { start, end }: VisitTimes): Recording<Reference> {
  return yield* chart.ofPatient('Encounter', {
    status: 'finished',
    class: hl7Coding('v3-ActCode', 'AMB'),
    type: [concept('snomed', '185349003', 'Encounter for check up')],
    serviceType: hl7Concept('service-type', '124'),
    subject: cast.patient,
    participant: [{ type: [hl7Concept('v3-ParticipationType', 'PPRF')], individual: cast.physician }],
    period: { start: instantOf(start), end: instantOf(end) },
    location: [{ location: cast.ward, status: 'completed' }],
    serviceProvider: cast.clinic,
  });
}

/** Whether a visit includes something: always in the first, else with the given probability. */
export function isDue({ chart, isFirst }: Visit, probability: number): boolean {
  return isFirst || chart.random.chance(probability);
}
