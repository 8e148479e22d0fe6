import { type Recording } from './chart';
import { concept } from './codes';
import { instantOf, minutesAfter } from './life-time';
import { type Visit } from './visit';

const PROCEDURES = [
  concept('snomed', '430193006', 'Medication reconciliation'),
  concept('snomed', '29303009', 'Electrocardiographic procedure'),
  concept('snomed', '171207006', 'Depression screening'),
  concept('snomed', '23426006', 'Measurement of respiratory function'),
  concept('snomed', '399208008', 'Plain chest X-ray'),
];

export function* performProcedure({ chart, cast, encounter, start }: Visit): Recording {
  yield* chart.ofPatient('Procedure', {
    status: 'completed',
    code: chart.random.pick(PROCEDURES),
    subject: cast.patient,
    encounter,
    performedPeriod: { start: instantOf(minutesAfter(start, 12)), end: instantOf(minutesAfter(start, 18)) },
    performer: [{ actor: cast.physician, onBehalfOf: cast.clinic }],
    location: cast.ward,
  });
}
