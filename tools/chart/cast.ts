import { type Chart, type Recording, type Reference } from './chart';
import { concept, hl7Concept } from './codes';
import { dateOf, daysAfter, instantOf } from './life-time';

/** The people and organizations that the visits of a chart refer to. */
export interface Cast {
  readonly clinic: Reference;
  readonly insurer: Reference;
  readonly physician: Reference;
  readonly nurse: Reference;
  readonly ward: Reference;
  readonly patient: Reference;
  /** Another patient of the clinic, whom the patient cares for. */
  readonly parent: Reference;
  readonly coverage: Reference;
  readonly careTeam: Reference;
  readonly birth: Date;
  readonly registration: Date;
}

const FAMILY_NAMES = ['Abara', 'Brandt', 'Castillo', 'Doyle', 'Eriksen', 'Faßbender', 'García', 'Nakamura', 'Okonkwo'];
const FEMALE_NAMES = ['Amelie', 'Chiara', 'Ingrid', 'María', 'Noor', 'Zoë'];
const MALE_NAMES = ['Björn', 'Emeka', 'Hiroshi', 'Luca', 'Omar', 'Tomás'];
const DAYS_PER_YEAR = 365.25;

/** Yields the people and places of the chart; the patient registers as a young adult, and the visits follow. */
export function* introduceCast(chart: Chart): Recording<Cast> {
  const { random } = chart;
  const birth = new Date(Date.UTC(random.integer(1955, 1985), random.integer(0, 11), random.integer(1, 28)));
  const registration = daysAfter(birth, Math.round(random.integer(20, 30) * DAYS_PER_YEAR));
  const clinic = yield* chart.ofOthers('Organization', organization('prov', 'Lakeside Family Clinic'));
  const ward = yield* chart.ofOthers('Location', {
    status: 'active',
    name: 'Examination room 2',
    mode: 'instance',
    type: [hl7Concept('v3-RoleCode', 'OF')],
    managingOrganization: clinic,
  });
  const physician = yield* chart.ofOthers('Practitioner', practitioner(chart, 'Dr.', 'MD'));
  const nurse = yield* chart.ofOthers('Practitioner', practitioner(chart, 'Ms.', 'RN'));
  const patient = yield* chart.ofPatient('Patient', person(chart, birth, { clinic, physician }));
  yield* chart.ofPatient('Provenance', {
    target: [patient],
    recorded: instantOf(registration),
    activity: hl7Concept('v3-DataOperation', 'CREATE'),
    agent: [{ type: hl7Concept('provenance-participant-type', 'enterer'), who: nurse, onBehalfOf: clinic }],
  });
  const insurer = yield* chart.ofOthers('Organization', organization('pay', 'Meridian Mutual Health'));
  const coverage = yield* chart.ofPatient('Coverage', {
    status: 'active',
    type: hl7Concept('v3-ActCode', 'EHCPOL'),
    subscriberId: `MM${random.integer(100_000, 999_999)}`,
    beneficiary: patient,
    relationship: hl7Concept('subscriber-relationship', 'self'),
    period: { start: dateOf(registration) },
    payor: [insurer],
  });
  const careTeam = yield* chart.ofPatient('CareTeam', {
    status: 'active',
    name: 'Primary care',
    subject: patient,
    period: { start: dateOf(registration) },
    participant: [
      { role: [concept('snomed', '59058001', 'General physician')], member: physician, onBehalfOf: clinic },
      { role: [concept('snomed', '224535009', 'Registered nurse')], member: nurse, onBehalfOf: clinic },
    ],
    managingOrganization: [clinic],
  });
  const parentBirth = daysAfter(birth, -Math.round(random.integer(19, 30) * DAYS_PER_YEAR));
  const parent = yield* chart.ofOthers('Patient', person(chart, parentBirth, { clinic, physician }));
  return { clinic, insurer, physician, nurse, ward, patient, parent, coverage, careTeam, birth, registration };
}

function organization(type: string, name: string): object {
  return { active: true, type: [hl7Concept('organization-type', type)], name };
}

function practitioner({ random }: Chart, prefix: string, degree: string): object {
  return {
    identifier: [{ system: 'https://clinic.example/ids/staff', value: `S-${random.integer(1000, 9999)}` }],
    active: true,
    name: [
      { use: 'official', family: random.pick(FAMILY_NAMES), given: [random.pick(FEMALE_NAMES)], prefix: [prefix] },
    ],
    qualification: [{ code: { text: degree } }],
  };
}

interface CareProviders {
  readonly clinic: Reference;
  readonly physician: Reference;
}

function person({ random }: Chart, birth: Date, { clinic, physician }: CareProviders): object {
  const gender = random.pick(['female', 'male']);
  const given = random.pick(gender === 'female' ? FEMALE_NAMES : MALE_NAMES);
  return {
    identifier: [
      {
        use: 'usual',
        type: hl7Concept('v2-0203', 'MR'),
        system: 'https://clinic.example/ids/mrn',
        value: String(random.integer(1_000_000, 9_999_999)),
      },
    ],
    active: true,
    name: [{ use: 'official', family: random.pick(FAMILY_NAMES), given: [given] }],
    telecom: [{ system: 'phone', value: `+1-555-01${random.integer(10, 99)}`, use: 'mobile' }],
    gender,
    birthDate: dateOf(birth),
    address: [
      {
        use: 'home',
        line: [`${random.integer(1, 240)} Harbour Street`],
        city: 'Springfield',
        postalCode: `0${random.integer(1000, 9999)}`,
        country: 'US',
      },
    ],
    communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'en-US' }] }, preferred: true }],
    generalPractitioner: [physician],
    managingOrganization: clinic,
  };
}
