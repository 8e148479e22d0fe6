import { type Caller } from '../platform/request/caller';
import { type RequestPart } from '../platform/request/request-context';
import {
  APPLICATION_SERVER,
  CLIENT_AGENT,
  type Coding,
  DOMAIN_RESOURCE_ROLE,
  PATIENT_ROLE,
  PERSON,
  QUERY_ROLE,
  REQUEST_ID,
  SECURITY_USER_ROLE,
  SERVER_AGENT,
  SERVER_RECORD,
  SYSTEM_OBJECT,
  USER_AGENT,
} from './audit-codes';

/** The content of an AuditEvent, in the terms of https://hl7.org/fhir/R4/auditevent.html. */
export interface AuditRecord {
  readonly type: Coding;
  readonly subtype: Coding;
  readonly action: 'C' | 'R' | 'U' | 'D' | 'E';
  readonly failedWith?: number | undefined;
  /** The User or Client that acted, authenticated or only claimed; empty if unknown. By default the caller. */
  readonly agent?: Partial<Caller> | undefined;
  /** The target: a resource such as `Observation/o1`, or a type alone. */
  readonly entity?: { readonly type: string; readonly id?: string | undefined; readonly version?: number } | undefined;
  /** Ids of the Patients that the event concerns. */
  readonly patients?: readonly string[];
  /** The query of a search as sent, with its secrets masked. */
  readonly query?: string | undefined;
  readonly operation?: string | undefined;
  /** The RPC calls of the request, each with its method and target. */
  readonly calls?: readonly RequestPart[];
}

export interface AuditPlace {
  readonly baseUrl: string;
  readonly recorded: Date;
  readonly address: string | undefined;
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
}

/** Returns `AuditEvent.outcome` for an HTTP status. R4: 4 is "often equivalent to an HTTP 400 response", 8 to a 500. */
const auditOutcomeOf = (failedWith: number | undefined): object =>
  failedWith === undefined
    ? { outcome: '0' }
    : { outcome: failedWith < 500 ? '4' : '8', outcomeDesc: `HTTP ${failedWith}` };

/** Follows IHE's Basic Audit Log Patterns (BALP). */
export function auditEventOf(record: AuditRecord, place: AuditPlace): object {
  return {
    meta: { security: [SERVER_RECORD] },
    type: record.type,
    subtype: [record.subtype],
    action: record.action,
    recorded: place.recorded.toISOString(),
    ...auditOutcomeOf(record.failedWith),
    agent: agentsOf(record.agent ?? {}, place),
    source: { site: place.baseUrl, observer: { display: place.baseUrl }, type: [APPLICATION_SERVER] },
    ...entitiesOf(record, place),
  };
}

/**
 * Returns the agents of an event. `agent.who` may not refer to Users and Clients. So an agent is identified by issuer
 * and subject, as BALP does for OAuth, and by `altId`, which searches use. `agent.policy` names the Session; BALP uses
 * the `jti` there.
 */
function agentsOf({ userId, clientId, sessionId }: Partial<Caller>, { baseUrl, address }: AuditPlace): object[] {
  const who = (id: string): object => ({ identifier: { system: baseUrl, value: id } });
  const policy = sessionId === undefined ? {} : { policy: [`urn:uuid:${sessionId}`] };
  const client = {
    type: { coding: [CLIENT_AGENT] },
    ...(clientId === undefined ? {} : { who: who(clientId), altId: `Client/${clientId}` }),
    requestor: userId === undefined,
    ...(userId === undefined ? policy : {}),
    ...(address === undefined ? {} : { network: { address, type: '2' } }),
  };
  const server = {
    type: { coding: [SERVER_AGENT] },
    who: { display: baseUrl },
    requestor: false,
    network: { address: baseUrl, type: '5' },
  };
  if (userId === undefined) return [client, server];
  const user = {
    type: { coding: [USER_AGENT] },
    who: who(userId),
    altId: `User/${userId}`,
    requestor: true,
    ...policy,
  };
  return [client, server, user];
}

function entitiesOf(record: AuditRecord, place: AuditPlace): object {
  const { query, operation, calls = [] } = record;
  const entities = targetsOf(record);
  if (query !== undefined)
    entities.push({ type: SYSTEM_OBJECT, role: QUERY_ROLE, query: Buffer.from(query).toString('base64') });
  for (const name of new Set([operation, ...calls.map(({ rpc }) => rpc?.method)]))
    if (name !== undefined) entities.push({ type: SYSTEM_OBJECT, name });
  if (place.requestId !== undefined)
    entities.push({ what: { identifier: { value: place.requestId } }, type: REQUEST_ID });
  if (place.correlationId !== undefined) entities.push(correlationOf(place.correlationId));
  return entities.length === 0 ? {} : { entity: entities };
}

/** The target, the targets of RPC calls and the Patients of a record, each once. */
function targetsOf({ entity, calls = [], patients = [] }: AuditRecord): object[] {
  const targets = new Map<string, object>();
  for (const target of [entity, ...calls, ...patients.map((id) => ({ type: 'Patient', id }))]) {
    const { type, id = '' } = target ?? {};
    const key = `${type}/${id}`;
    if (type !== undefined && !targets.has(key)) targets.set(key, entityOfTarget({ ...target, type }));
  }
  return [...targets.values()];
}

/** The entity of the header `X-Correlation-Id`. BALP has a code for `X-Request-Id`, but none for this header. */
const correlationOf = (value: string): object => ({
  what: { identifier: { type: { text: 'X-Correlation-Id' }, value } },
  type: SYSTEM_OBJECT,
});

function entityOfTarget({ type, id, version }: NonNullable<AuditRecord['entity']>): object {
  if (id === undefined) return { what: { type }, type: SYSTEM_OBJECT, role: roleOf(type) };
  return {
    what: { reference: `${type}/${id}` },
    type: type === 'Patient' ? PERSON : SYSTEM_OBJECT,
    role: type === 'Patient' ? PATIENT_ROLE : roleOf(type),
    ...(version === undefined ? {} : { detail: [{ type: 'versionId', valueString: String(version) }] }),
  };
}

const roleOf = (type: string): Coding =>
  type === 'User' || type === 'Client' ? SECURITY_USER_ROLE : DOMAIN_RESOURCE_ROLE;
