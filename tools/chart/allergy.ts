import { type Recording } from './chart';
import { concept, hl7Concept } from './codes';
import { dateOf, instantOf } from './life-time';
import { type Visit } from './visit';

const ALLERGIES = [
  { code: concept('snomed', '91936005', 'Allergy to penicillin'), category: 'medication', criticality: 'high' },
  { code: concept('snomed', '91935009', 'Allergy to peanut'), category: 'food', criticality: 'high' },
  { code: concept('snomed', '418689008', 'Allergy to grass pollen'), category: 'environment', criticality: 'low' },
  { code: concept('snomed', '232350006', 'House dust mite allergy'), category: 'environment', criticality: 'low' },
];

const REACTIONS = [
  concept('snomed', '271807003', 'Eruption of skin'),
  concept('snomed', '126485001', 'Urticaria'),
  concept('snomed', '39579001', 'Anaphylaxis'),
];

export function* recordAllergy({ chart, cast, encounter, start }: Visit): Recording {
  const { random } = chart;
  const { code, category, criticality } = random.pick(ALLERGIES);
  yield* chart.ofPatient('AllergyIntolerance', {
    clinicalStatus: hl7Concept('allergyintolerance-clinical', 'active'),
    verificationStatus: hl7Concept('allergyintolerance-verification', 'confirmed'),
    type: 'allergy',
    category: [category],
    criticality,
    code,
    patient: cast.patient,
    encounter,
    onsetDateTime: dateOf(cast.birth).slice(0, 4),
    recordedDate: instantOf(start),
    recorder: cast.physician,
    asserter: cast.patient,
    reaction: [{ manifestation: [random.pick(REACTIONS)], severity: random.pick(['mild', 'moderate']) }],
  });
}
