import { type Recording } from './chart';
import { concept, SYSTEM } from './codes';
import { dateOf, daysAfter, instantOf, minutesAfter } from './life-time';
import { type Visit } from './visit';
import { decimal } from './random';

const VACCINES = [
  concept('cvx', '140', 'Influenza, seasonal, injectable, preservative free'),
  concept('cvx', '113', 'Td (adult), 5 Lf tetanus toxoid, preservative free, adsorbed'),
  concept('cvx', '115', 'Tdap'),
  concept('cvx', '33', 'pneumococcal polysaccharide PPV23'),
  concept('cvx', '43', 'Hep B, adult'),
];

export function* immunize({ chart, cast, encounter, start }: Visit): Recording {
  const { random } = chart;
  yield* chart.ofPatient('Immunization', {
    status: 'completed',
    vaccineCode: random.pick(VACCINES),
    patient: cast.patient,
    encounter,
    occurrenceDateTime: instantOf(minutesAfter(start, 15)),
    primarySource: true,
    location: cast.ward,
    lotNumber: `L${random.integer(10_000, 99_999)}`,
    expirationDate: dateOf(daysAfter(start, random.integer(60, 400))),
    site: concept('snomed', '368208006', 'Left upper arm structure'),
    route: concept('snomed', '78421000', 'Intramuscular route'),
    doseQuantity: { value: decimal(0.5, 2), unit: 'mL', system: SYSTEM.ucum, code: 'mL' },
    performer: [{ actor: cast.nurse }],
  });
}
