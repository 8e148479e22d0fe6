import { type Response } from 'express';
import { SHOWN_RESOURCE } from '../fhir/edge/fhir-answer';
import { type RequestPart } from '../platform/request/request-context';
import { AUDIT_LOG_USED, AUTHENTICATION, type Coding, interactionCoding, LOGIN, REST } from './audit-codes';
import { type AuditRecord } from './audit-event';
import { type Interaction } from './interaction';
import { patientsOf, patientsOfQuery } from './patients-of';
import { type Steps } from '../platform/time/steps';

/**
 * Returns the record of an answered request, in steps, since the shown resource may have megabytes.
 * @param calls the RPC calls of the request
 */
export function* recordOfAnswer(
  interaction: Interaction,
  calls: readonly RequestPart[],
  response: Response,
  baseUrl: string,
): Steps<AuditRecord> {
  const { type, id, query, operation } = interaction;
  return {
    type: eventTypeOf(interaction),
    subtype: operation === 'auth/token' ? LOGIN : interactionCoding(interaction.code),
    action: interaction.action,
    patients: yield* patientsIn(interaction, response.locals[SHOWN_RESOURCE], baseUrl),
    failedWith: response.statusCode < 400 ? undefined : response.statusCode,
    entity: type === undefined ? undefined : { type, id },
    query: query?.text,
    operation,
    calls,
  };
}

/** Returns the record of a denied part (such as a Bundle entry) of a request that was not denied as a whole. */
export function recordOfDenied(part: RequestPart): AuditRecord {
  const { operationId, type, id, rpc } = part;
  return {
    type: type === 'AuditEvent' ? AUDIT_LOG_USED : REST,
    subtype: interactionCoding('operation'),
    action: 'E',
    failedWith: 403,
    operation: operationId,
    patients: type === 'Patient' && id !== undefined ? [id] : [],
    ...(rpc === undefined ? { entity: type === undefined ? undefined : { type, id } } : { calls: [part] }),
  };
}

function eventTypeOf({ type, action, operation }: Interaction): Coding {
  if (type === 'AuditEvent' && action !== 'C') return AUDIT_LOG_USED;
  return operation?.startsWith('auth/') === true ? AUTHENTICATION : REST;
}

function* patientsIn({ type, id, query }: Interaction, shown: unknown, baseUrl: string): Steps<readonly string[]> {
  if (type === 'Patient' && id !== undefined) return [id];
  if (type !== undefined && id !== undefined && typeof shown === 'string') {
    const value: unknown = JSON.parse(shown);
    yield;
    return yield* patientsOf(type, id, value, baseUrl);
  }
  return query === undefined ? [] : patientsOfQuery(type, query.values, baseUrl);
}
