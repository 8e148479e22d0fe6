import { type Resource } from '../fhir/types';

export interface Coding {
  readonly system: string;
  readonly code: string;
  readonly display?: string;
}

/** Codes of AuditEvents, from IHE's Basic Audit Log Patterns (https://profiles.ihe.net/ITI/BALP/). */

const DICOM = 'http://dicom.nema.org/resources/ontology/DCM';
const EVENT_TYPE = 'http://terminology.hl7.org/CodeSystem/audit-event-type';
const INTERACTION = 'http://hl7.org/fhir/restful-interaction';
const ENTITY_TYPE = 'http://terminology.hl7.org/CodeSystem/audit-entity-type';
const ENTITY_ROLE = 'http://terminology.hl7.org/CodeSystem/object-role';

export const REST: Coding = { system: EVENT_TYPE, code: 'rest', display: 'Restful Operation' };
export const AUTHENTICATION: Coding = { system: DICOM, code: '110114', display: 'User Authentication' };
/** The code for a use of the audit trail itself, such as a search of AuditEvents. */
export const AUDIT_LOG_USED: Coding = { system: DICOM, code: '110101', display: 'Audit Log Used' };

export const LOGIN: Coding = { system: DICOM, code: '110122', display: 'Login' };
export const LOGOUT: Coding = { system: DICOM, code: '110123', display: 'Logout' };
export const interactionCoding = (code: string): Coding => ({ system: INTERACTION, code, display: code });

export const CLIENT_AGENT: Coding = { system: DICOM, code: '110153', display: 'Source Role ID' };
export const SERVER_AGENT: Coding = { system: DICOM, code: '110152', display: 'Destination Role ID' };
export const USER_AGENT: Coding = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType',
  code: 'IRCP',
  display: 'information recipient',
};
export const APPLICATION_SERVER: Coding = {
  system: 'http://terminology.hl7.org/CodeSystem/security-source-type',
  code: '4',
  display: 'Application Server',
};

export const PERSON: Coding = { system: ENTITY_TYPE, code: '1', display: 'Person' };
export const SYSTEM_OBJECT: Coding = { system: ENTITY_TYPE, code: '2', display: 'System Object' };
export const REQUEST_ID: Coding = {
  system: 'https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType',
  code: 'XrequestId',
};

export const PATIENT_ROLE: Coding = { system: ENTITY_ROLE, code: '1', display: 'Patient' };
export const SECURITY_USER_ROLE: Coding = { system: ENTITY_ROLE, code: '11', display: 'Security User Entity' };
export const DOMAIN_RESOURCE_ROLE: Coding = { system: ENTITY_ROLE, code: '4', display: 'Domain Resource' };
export const QUERY_ROLE: Coding = { system: ENTITY_ROLE, code: '24', display: 'Query' };

/** The security tag of the server's own records. No caller can store it, so nobody can forge such a record. */
export const SERVER_RECORD: Coding = { system: 'urn:svc:audit', code: 'server', display: 'Recorded by the server' };

export function hasServerTag({ meta }: Pick<Resource, 'meta'>): boolean {
  const tags = (meta as { readonly security?: unknown } | undefined)?.security;
  return Array.isArray(tags) && tags.some((tag: Partial<Coding> | null) => tag?.system === SERVER_RECORD.system);
}

/**
 * Whether a resource is the server's record of a read of AuditEvents. Such a record triggers no topic event. Otherwise
 * a receiver that reads AuditEvents after each event would cause an endless loop.
 */
export function isRecordOfAuditUse(resource: Resource | undefined): boolean {
  if (resource?.resourceType !== 'AuditEvent' || !hasServerTag(resource)) return false;
  return (resource.type as Coding | undefined)?.code === AUDIT_LOG_USED.code;
}
