/**
 * An oracle of the Patient compartment that shares no code with the server: it has a separate table, and reads paths
 * and references itself. The table is HL7's CompartmentDefinition `patient` of R4 4.0.1, each parameter with the
 * element of its SearchParameter (http://hl7.org/fhir/R4/compartmentdefinition-patient.html,
 * searchparameter-registry.html). `[]` marks repeating elements.
 */
const LINKS = `
  Account.subject subject[]
  AdverseEvent.subject subject
  AllergyIntolerance.patient patient
  AllergyIntolerance.recorder recorder
  AllergyIntolerance.asserter asserter
  Appointment.actor participant[].actor
  AppointmentResponse.actor actor
  AuditEvent.patient agent[].who
  AuditEvent.patient entity[].what
  Basic.patient subject
  Basic.author author
  BodyStructure.patient patient
  CarePlan.patient subject
  CarePlan.performer activity[].detail.performer[]
  CareTeam.patient subject
  CareTeam.participant participant[].member
  ChargeItem.subject subject
  Claim.patient patient
  Claim.payee payee.party
  ClaimResponse.patient patient
  ClinicalImpression.subject subject
  Communication.subject subject
  Communication.sender sender
  Communication.recipient recipient[]
  CommunicationRequest.subject subject
  CommunicationRequest.sender sender
  CommunicationRequest.recipient recipient[]
  CommunicationRequest.requester requester
  Composition.subject subject
  Composition.author author[]
  Composition.attester attester[].party
  Condition.patient subject
  Condition.asserter asserter
  Consent.patient patient
  Coverage.policy-holder policyHolder
  Coverage.subscriber subscriber
  Coverage.beneficiary beneficiary
  Coverage.payor payor[]
  CoverageEligibilityRequest.patient patient
  CoverageEligibilityResponse.patient patient
  DetectedIssue.patient patient
  DeviceRequest.subject subject
  DeviceRequest.performer performer
  DeviceUseStatement.subject subject
  DiagnosticReport.subject subject
  DocumentManifest.subject subject
  DocumentManifest.author author[]
  DocumentManifest.recipient recipient[]
  DocumentReference.subject subject
  DocumentReference.author author[]
  Encounter.patient subject
  EnrollmentRequest.subject candidate
  EpisodeOfCare.patient patient
  ExplanationOfBenefit.patient patient
  ExplanationOfBenefit.payee payee.party
  FamilyMemberHistory.patient patient
  Flag.patient subject
  Goal.patient subject
  Group.member member[].entity
  ImagingStudy.patient subject
  Immunization.patient patient
  ImmunizationEvaluation.patient patient
  ImmunizationRecommendation.patient patient
  Invoice.subject subject
  Invoice.patient subject
  Invoice.recipient recipient
  List.subject subject
  List.source source
  MeasureReport.patient subject
  Media.subject subject
  MedicationAdministration.patient subject
  MedicationAdministration.performer performer[].actor
  MedicationAdministration.subject subject
  MedicationDispense.subject subject
  MedicationDispense.patient subject
  MedicationDispense.receiver receiver[]
  MedicationRequest.subject subject
  MedicationStatement.subject subject
  MolecularSequence.patient patient
  NutritionOrder.patient patient
  Observation.subject subject
  Observation.performer performer[]
  Patient.link link[].other
  Person.patient link[].target
  Procedure.patient subject
  Procedure.performer performer[].actor
  Provenance.patient target[]
  QuestionnaireResponse.subject subject
  QuestionnaireResponse.author author
  RelatedPerson.patient patient
  RequestGroup.subject subject
  RequestGroup.participant action[].participant[]
  ResearchSubject.individual individual
  RiskAssessment.subject subject
  Schedule.actor actor[]
  ServiceRequest.subject subject
  ServiceRequest.performer performer[]
  Specimen.subject subject
  SupplyDelivery.patient patient
  SupplyRequest.subject deliverTo
  VisionPrescription.patient patient
  SDCDocument.patient patient
  SDCWorkflow.patient patient
  SDCWorkflow.patient ctx.patient`;

/** A parameter of the compartment, and one of its elements. */
export interface CompartmentLink {
  readonly type: string;
  readonly code: string;
  readonly path: readonly string[];
}

export const COMPARTMENT_LINKS: readonly CompartmentLink[] = LINKS.trim()
  .split('\n')
  .map((line) => {
    const [, type = '', code = '', path = ''] = /^\s*(\w+)\.([\w-]+) (\S+)$/.exec(line) ?? [];
    return { type, code, path: path.split('.') };
  });

const linksByType = new Map<string, CompartmentLink[]>();
for (const link of COMPARTMENT_LINKS) linksByType.set(link.type, [...(linksByType.get(link.type) ?? []), link]);

export interface SentResource {
  readonly resourceType: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

/**
 * The parameters by which a resource belongs to the compartment of `Patient/{patientId}`, sorted; the patient itself
 * has none.
 * @param bases where the server answers, without a trailing slash
 */
export function reasonsOf(resource: SentResource, patientId: string, bases: readonly string[]): string[] {
  const links = linksByType.get(resource.resourceType) ?? [];
  const codes = links.filter(({ path }) =>
    valuesAt(resource, path).some((value) => namesPatient(value, patientId, bases)),
  );
  return [...new Set(codes.map(({ code }) => code))].sort();
}

/** Whether `$everything` of the patient contains the resource. */
export function belongsTo(resource: SentResource, patientId: string, bases: readonly string[]): boolean {
  const isPatient = resource.resourceType === 'Patient' && resource.id === patientId;
  return isPatient || reasonsOf(resource, patientId, bases).length > 0;
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  return path.reduce<unknown[]>(
    (values, step) =>
      values.flatMap((one) => {
        const member = (one as Record<string, unknown> | undefined)?.[step.replace('[]', '')];
        return member === undefined ? [] : Array.isArray(member) ? (member as unknown[]) : [member];
      }),
    [value],
  );
}

/**
 * Reads FHIR's `{reference}` and the `{resourceType, id}` of the server's own types; a reference to a version refers to
 * the same resource.
 */
function namesPatient(value: unknown, patientId: string, bases: readonly string[]): boolean {
  const { reference, resourceType, id } = value as Record<string, unknown>;
  if (typeof reference !== 'string') return resourceType === 'Patient' && id === patientId;
  const unversioned = reference.replace(/\/_history\/[^/]+$/, '');
  return ['', ...bases.map((base) => `${base}/`)].some((start) => unversioned === `${start}Patient/${patientId}`);
}
