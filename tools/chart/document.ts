import { type Recording } from './chart';
import { concept, hl7Concept } from './codes';
import { instantOf } from './life-time';
import { type Visit } from './visit';

/** Yields the visit's note and its signature. The Provenance targets the note, so it is outside the compartment. */
export function* writeNote({ chart, cast, encounter, start, end }: Visit): Recording {
  const text = `Visit of ${instantOf(start)}. History taken, findings discussed, plan agreed with the patient.`;
  const note = yield* chart.ofPatient('DocumentReference', {
    status: 'current',
    docStatus: 'final',
    type: concept('loinc', '11506-3', 'Progress note'),
    subject: cast.patient,
    date: instantOf(end),
    author: [cast.physician],
    custodian: cast.clinic,
    content: [
      {
        attachment: {
          contentType: 'text/plain; charset=utf-8',
          data: Buffer.from(text).toString('base64'),
          title: 'Progress note',
        },
      },
    ],
    context: { encounter: [encounter], period: { start: instantOf(start), end: instantOf(end) } },
  });
  if (!chart.random.chance(0.5)) return;
  yield* chart.ofOthers('Provenance', {
    target: [note],
    recorded: instantOf(end),
    agent: [
      { type: hl7Concept('provenance-participant-type', 'author'), who: cast.physician, onBehalfOf: cast.clinic },
    ],
  });
}
