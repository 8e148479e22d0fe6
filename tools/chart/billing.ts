import { type Recording } from './chart';
import { concept, hl7Concept } from './codes';
import { dateOf, daysAfter, instantOf } from './life-time';
import { decimal } from './random';
import { type Visit } from './visit';

const VISIT_SERVICE = concept('snomed', '185349003', 'Encounter for check up');
const PAID_SHARE = 0.8;

/** Yields the bill of a visit and the insurer's response. */
export function* bill({ chart, cast, encounter, end }: Visit): Recording {
  const price = chart.random.integer(6000, 24_000) / 100;
  const common = {
    status: 'active',
    type: hl7Concept('claim-type', 'professional'),
    use: 'claim',
    patient: cast.patient,
    insurer: cast.insurer,
    provider: cast.clinic,
    insurance: [{ focal: true, coverage: cast.coverage }],
  };
  const claim = yield* chart.ofPatient('Claim', {
    ...common,
    billablePeriod: { start: dateOf(end), end: dateOf(end) },
    created: instantOf(end),
    priority: hl7Concept('processpriority', 'normal'),
    insurance: [{ sequence: 1, focal: true, coverage: cast.coverage }],
    item: [{ sequence: 1, productOrService: VISIT_SERVICE, net: dollars(price), encounter: [encounter] }],
    total: dollars(price),
  });
  yield* chart.ofPatient('ExplanationOfBenefit', {
    ...common,
    created: instantOf(daysAfter(end, chart.random.integer(3, 14))),
    claim,
    outcome: 'complete',
    item: [
      {
        sequence: 1,
        productOrService: VISIT_SERVICE,
        net: dollars(price),
        encounter: [encounter],
        adjudication: [
          { category: hl7Concept('adjudication', 'submitted'), amount: dollars(price) },
          { category: hl7Concept('adjudication', 'benefit'), amount: dollars(price * PAID_SHARE) },
        ],
      },
    ],
    total: [{ category: hl7Concept('adjudication', 'submitted'), amount: dollars(price) }],
    payment: { amount: dollars(price * PAID_SHARE) },
  });
}

function dollars(amount: number): object {
  return { value: decimal(amount, 2), currency: 'USD' };
}
