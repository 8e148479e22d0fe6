import { type Random } from '../../tools/chart/random';
import { CARE_DATES_BY_TYPE, type DateElement, type DateKind } from './care-date-oracle';
import { COMPARTMENT_LINKS, type CompartmentLink, type SentResource } from './compartment-oracle';
import { BASE_URL } from '../../testing/test-app';

type Members = Readonly<Record<string, unknown>>;

const TEXT = { text: 'x' };
const SHOWN = { display: 'x' };
const NOBODY = { reference: 'Patient/nobody' };
const ON = '2026-01-05';
const RESOLVED = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'resolved' }],
};
const two = (number: number): string => String(number).padStart(2, '0');

/**
 * Required members of each type of the compartment, in addition to its links. AuditEvent is excluded: only the server
 * writes it.
 */
const LEAST: Readonly<Record<string, Members>> = {
  Account: { status: 'active' },
  AdverseEvent: { actuality: 'actual', subject: NOBODY },
  AllergyIntolerance: {
    clinicalStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
    },
    patient: NOBODY,
  },
  Appointment: { status: 'proposed', participant: [{ status: 'accepted', actor: SHOWN }] },
  AppointmentResponse: { appointment: SHOWN, participantStatus: 'accepted', participantType: [TEXT] },
  Basic: { code: TEXT },
  BodyStructure: { patient: NOBODY },
  CarePlan: { status: 'active', intent: 'plan', subject: NOBODY },
  CareTeam: {},
  ChargeItem: { status: 'billable', code: TEXT, subject: NOBODY },
  Claim: {
    ...{ status: 'active', type: TEXT, use: 'claim', patient: NOBODY, created: ON, provider: SHOWN, priority: TEXT },
    insurance: [{ sequence: 1, focal: true, coverage: SHOWN }],
  },
  ClaimResponse: {
    ...{ status: 'active', type: TEXT, use: 'claim', patient: NOBODY, created: ON, insurer: SHOWN },
    outcome: 'complete',
  },
  ClinicalImpression: { status: 'completed', subject: NOBODY },
  Communication: { status: 'completed' },
  CommunicationRequest: { status: 'active' },
  Composition: { status: 'final', type: TEXT, date: ON, author: [SHOWN], title: 'x' },
  Condition: { subject: NOBODY },
  Consent: { status: 'active', scope: TEXT, category: [TEXT], policyRule: TEXT },
  Coverage: { status: 'active', beneficiary: NOBODY, payor: [SHOWN] },
  CoverageEligibilityRequest: {
    ...{ status: 'active', purpose: ['benefits'], patient: NOBODY, created: ON, insurer: SHOWN },
  },
  CoverageEligibilityResponse: {
    ...{ status: 'active', purpose: ['benefits'], patient: NOBODY, created: ON, insurer: SHOWN },
    ...{ request: SHOWN, outcome: 'complete' },
  },
  DetectedIssue: { status: 'final' },
  DeviceRequest: { intent: 'order', codeCodeableConcept: TEXT, subject: NOBODY },
  DeviceUseStatement: { status: 'active', subject: NOBODY, device: SHOWN },
  DiagnosticReport: { status: 'final', code: TEXT },
  DocumentManifest: { status: 'current', content: [SHOWN] },
  DocumentReference: { status: 'current', content: [{ attachment: { title: 'x' } }] },
  Encounter: { status: 'finished', class: { code: 'AMB' } },
  EnrollmentRequest: {},
  EpisodeOfCare: { status: 'active', patient: NOBODY },
  ExplanationOfBenefit: {
    ...{ status: 'active', type: TEXT, use: 'claim', patient: NOBODY, created: ON, insurer: SHOWN, provider: SHOWN },
    ...{ outcome: 'complete', insurance: [{ focal: true, coverage: SHOWN }] },
  },
  FamilyMemberHistory: { status: 'completed', patient: NOBODY, relationship: TEXT },
  Flag: { status: 'active', code: TEXT, subject: NOBODY },
  Goal: { lifecycleStatus: 'active', description: TEXT, subject: NOBODY },
  Group: { type: 'person', actual: true },
  ImagingStudy: { status: 'available', subject: NOBODY },
  Immunization: { status: 'completed', vaccineCode: TEXT, patient: NOBODY, occurrenceString: 'x' },
  ImmunizationEvaluation: {
    ...{ status: 'completed', patient: NOBODY, targetDisease: TEXT, immunizationEvent: SHOWN, doseStatus: TEXT },
  },
  ImmunizationRecommendation: {
    ...{ patient: NOBODY, date: ON, recommendation: [{ vaccineCode: [TEXT], forecastStatus: TEXT }] },
  },
  Invoice: { status: 'issued' },
  List: { status: 'current', mode: 'working' },
  MeasureReport: { status: 'complete', type: 'individual', measure: 'http://x.example/m', period: { start: ON } },
  Media: { status: 'completed', content: { title: 'x' } },
  MedicationAdministration: {
    ...{ status: 'completed', medicationCodeableConcept: TEXT, subject: NOBODY, effectiveDateTime: ON },
  },
  MedicationDispense: { status: 'completed', medicationCodeableConcept: TEXT },
  MedicationRequest: { status: 'active', intent: 'order', medicationCodeableConcept: TEXT, subject: NOBODY },
  MedicationStatement: { status: 'active', medicationCodeableConcept: TEXT, subject: NOBODY },
  MolecularSequence: { coordinateSystem: 0 },
  NutritionOrder: {
    ...{ status: 'active', intent: 'order', patient: NOBODY, dateTime: ON, oralDiet: { type: [TEXT] } },
  },
  Observation: { status: 'final', code: TEXT },
  Patient: {},
  Person: {},
  Procedure: { status: 'completed', subject: NOBODY },
  Provenance: { target: [SHOWN], recorded: '2026-01-05T10:00:00Z', agent: [{ who: SHOWN }] },
  QuestionnaireResponse: { status: 'completed' },
  RelatedPerson: { patient: NOBODY },
  RequestGroup: { status: 'active', intent: 'plan' },
  ResearchSubject: { status: 'candidate', study: SHOWN, individual: NOBODY },
  RiskAssessment: { status: 'final', subject: NOBODY },
  Schedule: { actor: [SHOWN] },
  ServiceRequest: { status: 'active', intent: 'order', subject: NOBODY },
  Specimen: {},
  SupplyDelivery: {},
  SupplyRequest: { itemCodeableConcept: TEXT, quantity: { value: 1 } },
  VisionPrescription: {
    ...{ status: 'active', created: ON, patient: NOBODY, dateWritten: ON, prescriber: SHOWN },
    lensSpecification: [{ product: TEXT, eye: 'right' }],
  },
  SDCDocument: { status: 'draft' },
  SDCWorkflow: { status: 'new' },
};

/** Members that R4 requires beside an element on the path to a link. */
const BESIDE: Readonly<Record<string, Members>> = {
  'Appointment.participant[]': { status: 'accepted' },
  'CarePlan.detail': { status: 'not-started' },
  'Claim.payee': { type: TEXT },
  'Composition.attester[]': { mode: 'personal' },
  'Patient.link[]': { type: 'seealso' },
  'RequestGroup.action[]': { resource: SHOWN },
};

/** Links of types that callers may write. */
export const WRITABLE_LINKS: readonly CompartmentLink[] = COMPARTMENT_LINKS.filter(({ type }) => type in LEAST);

const isOwnType = (type: string): boolean => type.startsWith('SDC');

/** Another type that the same element may refer to; undefined if it may only refer to patients. */
function otherTypeOf({ type, path }: CompartmentLink): string | undefined {
  const element = path.at(-1)?.replace('[]', '') ?? '';
  if (['patient', 'beneficiary', 'candidate', 'individual'].includes(element)) return undefined;
  if (type === 'Account') return 'Device';
  if (type === 'Patient' || element === 'subscriber') return 'RelatedPerson';
  if (['policyHolder', 'payor', 'deliverTo'].includes(element) || type === 'Invoice') {
    return element === 'subject' ? 'Group' : 'Organization';
  }
  return element === 'subject' ? 'Group' : 'Practitioner';
}

/** A patient with the forms that references use. */
export interface Subject {
  readonly id: string;
  readonly identifier: { readonly system: string; readonly value: string };
  /** The fullUrl of the patient in transactions. */
  readonly urn: string;
}

interface Reference {
  /** The value of the element; undefined omits it. */
  readonly value: Members;
  /** Whether only a transaction can resolve the reference. */
  readonly isForTransaction?: boolean;
  readonly contained?: readonly Members[];
}

type Form = (subject: Subject, link: CompartmentLink) => Reference | undefined;

const RELATIVE: Readonly<Record<string, Form>> = {
  relative: ({ id }) => ({ value: { reference: `Patient/${id}` } }),
};
const MEMBER_FORMS: Readonly<Record<string, Form>> = {
  ...RELATIVE,
  absolute: ({ id }) => ({ value: { reference: `${BASE_URL}/fhir/Patient/${id}` } }),
  'absolute on the other root': ({ id }) => ({ value: { reference: `${BASE_URL}/Patient/${id}` } }),
  versioned: ({ id }) => ({ value: { reference: `Patient/${id}/_history/1` } }),
  'absolute and versioned': ({ id }) => ({ value: { reference: `${BASE_URL}/fhir/Patient/${id}/_history/7` } }),
  'with an identifier that says otherwise': ({ id }) => ({
    value: { reference: `Patient/${id}`, type: 'Patient', identifier: { value: 'other' }, display: 'Patient/other' },
  }),
  urn: ({ urn }) => ({ value: { reference: urn }, isForTransaction: true }),
  conditional: ({ identifier: { system, value } }) => ({
    value: { reference: `Patient?identifier=${system}|${value}` },
    isForTransaction: true,
  }),
};

/**
 * Forms of references that do not refer to the subject. References to another patient are not among them: the other
 * subjects cover those.
 */
const MISS_FORMS: Readonly<Record<string, Form>> = {
  'another server': ({ id }) => ({ value: { reference: `http://elsewhere.example/fhir/Patient/${id}` } }),
  'below our own base': ({ id }) => ({ value: { reference: `${BASE_URL}/fhir/archive/Patient/${id}` } }),
  'identifier alone': ({ identifier }) => ({ value: { type: 'Patient', identifier } }),
  'display alone': ({ id }) => ({ value: { display: `Patient/${id}` } }),
  'a urn that nobody has': ({ urn }) => ({ value: { reference: urn.replace('urn:uuid:0', 'urn:uuid:f') } }),
  contained: ({ id, identifier }) => ({
    value: { reference: '#kept' },
    contained: [{ resourceType: 'Patient', id: 'kept', identifier: [identifier], link: linkTo(id) }],
  }),
  'another type': ({ id }, link) => {
    const type = otherTypeOf(link);
    return type === undefined ? undefined : { value: { reference: `${type}/${id}` } };
  },
  'an extension': ({ id }) => ({
    value: {
      reference: 'Patient/nobody',
      extension: [{ url: 'http://x.example/see', valueReference: { reference: `Patient/${id}` } }],
    },
  }),
};

const linkTo = (id: string): object[] => [{ other: { reference: `Patient/${id}` }, type: 'seealso' }];

const OWN_FORMS: Readonly<Record<string, Form>> = {
  own: ({ id }) => ({ value: { resourceType: 'Patient', id } }),
};
const OWN_MISSES: Readonly<Record<string, Form>> = {
  'own, another type': ({ id }) => ({ value: { resourceType: 'User', id } }),
};

export interface Drawn {
  readonly resource: SentResource;
  readonly isForTransaction: boolean;
}

/** Generates resources that refer to patients, or that only seem to. */
export class CompartmentChart {
  constructor(private readonly random: Random) {}

  /** A resource whose `links` refer to the subject, each in another form. */
  member(id: string, links: readonly CompartmentLink[], subject: Subject): Drawn {
    return this.drawn(id, links, subject, (type) => (isOwnType(type) ? OWN_FORMS : MEMBER_FORMS));
  }

  /** Like {@link member}, but all references are relative: every implementation that specs compare resolves these. */
  relative(id: string, links: readonly CompartmentLink[], subject: Subject): SentResource {
    return this.drawn(id, links, subject, (type) => (isOwnType(type) ? OWN_FORMS : RELATIVE)).resource;
  }

  /** A resource whose `links` seem to refer to the subject but do not. */
  miss(id: string, links: readonly CompartmentLink[], subject: Subject): Drawn {
    return this.drawn(id, links, subject, (type) => (isOwnType(type) ? OWN_MISSES : MISS_FORMS));
  }

  private drawn(
    id: string,
    links: readonly CompartmentLink[],
    subject: Subject,
    formsOf: (type: string) => Readonly<Record<string, Form>>,
  ): Drawn {
    const type = links[0]?.type ?? '';
    let resource: SentResource = { resourceType: type, id, ...LEAST[type] };
    let contained: readonly Members[] = [];
    let isForTransaction = false;
    for (const link of links) {
      const reference = this.reference(formsOf(type), subject, link);
      resource = { ...resource, ...placed(resource, link.path, reference.value, type) };
      contained = reference.contained ?? contained;
      isForTransaction ||= reference.isForTransaction === true;
    }
    // Two parameters may use one element, and then only the later value remains. So the contained resource is added
    // only if a reference to it remains.
    if (JSON.stringify(resource).includes('"#kept"')) resource = { ...resource, contained };
    return { resource: this.random.chance(0.8) ? this.dated(resource) : resource, isForTransaction };
  }

  /** Adds a care date if the type has one. */
  private dated(resource: SentResource): SentResource {
    const { elements = [], until = [] } = CARE_DATES_BY_TYPE.get(resource.resourceType) ?? {};
    let dated = resource;
    for (const choices of [elements, until]) {
      if (choices.length > 0 && this.random.chance(0.8)) dated = this.withDate(dated, this.random.pick(choices));
    }
    if ('start' in dated) dated = { ...dated, end: dated.start }; // app-2
    // A condition that abated is no longer active (con-4).
    return 'abatementDateTime' in dated || 'abatementPeriod' in dated ? { ...dated, clinicalStatus: RESOLVED } : dated;
  }

  private withDate(resource: SentResource, { path, kind }: DateElement): SentResource {
    const [first = '', second] = path;
    // The required member of a choice may already have another type of that choice.
    const choice = /^(effective|occurrence)(?=[A-Z])/.exec(first)?.[0];
    const others = Object.entries(resource).filter(([name]) => choice === undefined || !name.startsWith(choice));
    const value = this.date(kind);
    return {
      ...(Object.fromEntries(others) as SentResource),
      [first]: second === undefined ? value : { [second]: value },
    };
  }

  private date(kind: DateKind): unknown {
    const { random } = this;
    const day = `20${random.integer(15, 24)}-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`;
    const time = `T${two(random.integer(0, 23))}:${two(random.integer(0, 59))}:${two(random.integer(0, 59))}`;
    const zone = random.pick(['Z', '+02:00', '-11:00', '.250Z']);
    if (kind === 'instant') return `${day}${time}${zone}`;
    if (kind === 'date') return random.pick([day, day.slice(0, 7), day.slice(0, 4)]);
    if (kind === 'dateTime') return random.pick([day, day.slice(0, 7), day.slice(0, 4), `${day}${time}${zone}`]);
    const later = `${2025 + random.integer(0, 3)}${day.slice(4)}`;
    return random.pick([{ start: day }, { end: day }, { start: day, end: later }, { start: day, end: day }]);
  }

  private reference(forms: Readonly<Record<string, Form>>, subject: Subject, link: CompartmentLink): Reference {
    const drawn = this.random.pick(Object.values(forms))(subject, link);
    return drawn ?? this.reference(forms, subject, link);
  }
}

/** Puts `value` at the path. A repeating element gets one more item. */
function placed(body: Members, [step = '', ...rest]: readonly string[], value: Members, type: string): Members {
  const name = step.replace('[]', '');
  const isList = step !== name;
  const known = isList ? {} : (body[name] as Members | undefined);
  const inner = rest.length === 0 ? value : placed({ ...known, ...BESIDE[`${type}.${step}`] }, rest, value, type);
  return { ...body, [name]: isList ? [...((body[name] as unknown[] | undefined) ?? []), inner] : inner };
}
