import { Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { isR4ResourceType } from '../fhir/definitions/definitions';
import { SHOWN_RESOURCE } from '../fhir/edge/fhir-answer';
import { type DeniedPart } from '../platform/request/request-context';
import { ResourceTypes } from '../model/resource-types';
import { AUDIT_LOG_USED, AUTHENTICATION, interactionCoding, LOGIN, REST } from './audit-codes';
import { type AuditRecord } from './audit-event';
import { type Interaction, interactionOf } from './interaction';
import { patientsOf, patientsOfQuery } from './patients-of';

@Injectable()
export class AnswerAudit {
  constructor(private readonly types: ResourceTypes) {}

  recordOf(request: Request, response: Response): AuditRecord {
    const interaction = interactionOf(request, (text) => isR4ResourceType(text) || this.types.find(text) !== undefined);
    const { type, id, query, operation } = interaction;
    const isLogin = operation === 'auth/token';
    return {
      type:
        type === 'AuditEvent' && interaction.action !== 'C'
          ? AUDIT_LOG_USED
          : operation?.startsWith('auth/') === true
            ? AUTHENTICATION
            : REST,
      subtype: isLogin ? LOGIN : interactionCoding(interaction.code),
      action: interaction.action,
      patients: patientsIn(interaction, response.locals[SHOWN_RESOURCE]),
      failedWith: response.statusCode < 400 ? undefined : response.statusCode,
      entity: type === undefined ? undefined : { type, id },
      query: query?.text,
      operation,
    };
  }

  /** Returns the record of a denied part (such as a Bundle entry) of a request that was not denied as a whole. */
  recordOfDenied({ operationId, type, id }: DeniedPart): AuditRecord {
    return {
      type: type === 'AuditEvent' ? AUDIT_LOG_USED : REST,
      subtype: interactionCoding('operation'),
      action: 'E',
      failedWith: 403,
      operation: operationId,
      patients: type === 'Patient' && id !== undefined ? [id] : [],
      entity: type === undefined ? undefined : { type, id },
    };
  }
}

function patientsIn({ type, id, query }: Interaction, shown: unknown): readonly string[] {
  if (type === 'Patient' && id !== undefined) return [id];
  if (type !== undefined && id !== undefined && typeof shown === 'string') return patientsOf(type, id, shown);
  return query === undefined ? [] : patientsOfQuery(query.values);
}
