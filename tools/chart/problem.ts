import { type Recording, type Reference } from './chart';
import { concept, hl7Concept } from './codes';
import { dateOf, daysAfter, instantOf } from './life-time';
import { ACUTE_PROBLEMS, CHRONIC_PROBLEMS, type ProblemKind } from './problem-catalogue';
import { type Visit } from './visit';

export interface Problem {
  readonly kind: ProblemKind;
  readonly condition: Reference;
}

/** Yields the next chronic problem of the catalog with its goal and care plan; each occurs once in a lifetime. */
export function* recordChronicProblem(visit: Visit, known: readonly Problem[]): Recording<Problem | undefined> {
  const { chart, cast, encounter, start } = visit;
  const kind = CHRONIC_PROBLEMS[known.length];
  if (!kind) return undefined;
  const condition = yield* recordCondition(visit, kind, { clinicalStatus: 'active' });
  const goal = yield* chart.ofPatient('Goal', {
    lifecycleStatus: 'active',
    achievementStatus: hl7Concept('goal-achievement', 'in-progress'),
    description: { text: kind.goal },
    subject: cast.patient,
    startDate: dateOf(start),
    target: [{ dueDate: dateOf(daysAfter(start, 180)) }],
    expressedBy: cast.physician,
    addresses: [condition],
  });
  yield* chart.ofPatient('CarePlan', {
    status: 'active',
    intent: 'plan',
    category: [concept('snomed', '734163000', 'Care plan')],
    title: `Care plan: ${kind.code.text ?? 'problem'}`,
    subject: cast.patient,
    encounter,
    period: { start: dateOf(start) },
    author: cast.physician,
    careTeam: [cast.careTeam],
    addresses: [condition],
    goal: [goal],
  });
  return { kind, condition };
}

/** Yields a problem that resolves within weeks. */
export function* recordAcuteProblem(visit: Visit): Recording<Problem> {
  const kind = visit.chart.random.pick(ACUTE_PROBLEMS);
  const abatementDateTime = dateOf(daysAfter(visit.start, visit.chart.random.integer(4, 21)));
  const condition = yield* recordCondition(visit, kind, { clinicalStatus: 'resolved', abatementDateTime });
  return { kind, condition };
}

interface Course {
  readonly clinicalStatus: 'active' | 'resolved';
  readonly abatementDateTime?: string;
}

function* recordCondition(visit: Visit, kind: ProblemKind, course: Course): Recording<Reference> {
  const { chart, cast, encounter, start } = visit;
  const { clinicalStatus, ...abatement } = course;
  return yield* chart.ofPatient('Condition', {
    clinicalStatus: hl7Concept('condition-clinical', clinicalStatus),
    verificationStatus: hl7Concept('condition-ver-status', 'confirmed'),
    category: [
      hl7Concept('condition-category', clinicalStatus === 'active' ? 'problem-list-item' : 'encounter-diagnosis'),
    ],
    code: kind.code,
    subject: cast.patient,
    encounter,
    onsetDateTime: dateOf(daysAfter(start, -chart.random.integer(1, 6))),
    ...abatement,
    recordedDate: instantOf(start),
    recorder: cast.physician,
    asserter: cast.physician,
  });
}
