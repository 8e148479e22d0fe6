import { Random } from '../../chart/random';
import { type ChartEntry } from '../../chart/chart-generator';
import { CHARTS } from '../bench-data';
import { chartsOf } from '../scale/fill-charts';
import { type Question } from './judge-answer';
import { type Body, WrittenResources } from './written-resources';

const TURN_SYSTEM = 'http://bench.example/turn';
const TURNS = 100;
/** The limited caller may see only Observations of this status. */
export const VISIBLE_CRITERIA = 'Observation?status=amended';
const STATUSES = ['final', 'amended'];
/** The number of stored Observations that are counted by patient; no writer changes them. */
const COUNTED_AMONG = 4_000;

const PATIENTS: readonly string[] = CHARTS.map(({ patientId }) => `Patient/${patientId}`);

const subjectOf = ({ subject }: Body): string => (subject as { reference: string }).reference;
const turnOf = ({ identifier = [] }: Body): string | undefined =>
  (identifier as readonly { value: string }[])[0]?.value;
const isVisible = ({ status }: Body): boolean => status === 'amended';

/** Patients whose compartment contains the Observation. */
const patientsOf = (body: Body): string[] =>
  [subjectOf(body), ...(body.performer as readonly { reference: string }[]).map(({ reference }) => reference)].filter(
    (reference) => reference.startsWith('Patient/'),
  );

export interface Asked extends Question {
  readonly name: string;
  readonly isLimited: boolean;
  /** Whether the request is answered even during the build, so that its times can be compared. */
  readonly isTimed: boolean;
}

/** The data of the suite: Observations changed by writers, others that are only counted, and the readers' requests. */
export class LoadData {
  readonly written = new WrittenResources((body) => [...patientsOf(body), ...[turnOf(body) ?? []].flat()]);
  /** The Observations that writers change: those of the charts of the bench. */
  readonly changed: readonly Body[] = CHARTS.flatMap(({ entries }) => entries.flatMap(observationOf));
  /** The Observations that are only counted: those of charts that filled the database before the server started. */
  readonly counted: readonly Body[];
  private readonly random = new Random(1);
  private versions = 0;

  constructor(size: number) {
    const first: Body[] = [];
    const later = new Set<string>();
    let at = 0;
    for (const entry of chartsOf(size))
      for (const body of observationOf(entry)) {
        if (at++ < COUNTED_AMONG) first.push(body);
        else later.add(subjectOf(body));
      }
    // Drops patients with further Observations: a count is only known if all Observations of the patient are here.
    this.counted = first.filter((body) => !later.has(subjectOf(body)));
    for (const body of [...this.changed, ...this.counted]) this.written.put(body);
  }

  /** Another version, with other values of the searched elements. */
  nextOf(body: Body): Body {
    const { random } = this;
    return {
      ...body,
      status: random.pick(STATUSES),
      identifier: [{ system: TURN_SYSTEM, value: `t${random.integer(1, TURNS)}` }],
      subject: { reference: random.pick(PATIENTS) },
      note: [{ text: `version ${++this.versions}` }],
    };
  }

  /** Questions of the readers, one of each kind. */
  questions(): readonly Asked[] {
    const { random } = this;
    const id = random.pick(this.changed).id;
    const turn = `t${random.integer(1, TURNS)}`;
    const patient = random.pick(PATIENTS);
    const counted = subjectOf(random.pick(this.counted));
    const ofPatient = (body: Body): boolean => subjectOf(body) === patient;
    const read = { path: `/Observation/${id}`, kind: 'read', key: id, matches: () => true } as const;
    const byPatient = {
      path: `/Observation?patient=${patient}&_count=1000`,
      key: patient,
      matches: ofPatient,
    } as const;
    const open = { isLimited: false, isTimed: true };
    const limited = { isLimited: true, mayBeSeen: isVisible };
    return [
      { name: 'read', ...read, ...open },
      {
        ...{
          name: 'search by token',
          path: `/Observation?identifier=${TURN_SYSTEM}|${turn}&_count=1000`,
          kind: 'search',
        },
        ...{ key: turn, matches: (body) => turnOf(body) === turn, ...open },
      },
      { name: 'search by reference', ...byPatient, kind: 'search', ...open },
      {
        ...{ name: 'count', path: `/Observation?patient=${counted}&_summary=count`, kind: 'count', key: counted },
        ...{ matches: (body) => subjectOf(body) === counted, ...open },
      },
      {
        ...{ name: '$everything', path: `/${patient}/$everything?_type=Observation`, kind: 'search', key: patient },
        ...{ matches: (body) => patientsOf(body).includes(patient), isLimited: false, isTimed: false },
      },
      { name: 'limited read', ...read, ...limited, isTimed: true },
      { name: 'limited search', ...byPatient, kind: 'search', ...limited, isTimed: false },
    ];
  }
}

const observationOf = ({ resourceType, body }: ChartEntry): Body[] =>
  resourceType === 'Observation' ? [JSON.parse(body) as Body] : [];
