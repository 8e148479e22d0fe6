import { expect, it } from '@jest/globals';
import { ResourceValidator } from '../validator/validator';
import { AUDIT_LOG_USED, AUTHENTICATION, interactionCoding, LOGIN, LOGOUT, REST } from './audit-codes';
import { auditEventOf, type AuditRecord } from './audit-event';

const validator = new ResourceValidator();

const PLACE = { baseUrl: 'http://svc.example', recorded: new Date('2026-11-23T10:00:00.000Z') };
const PLACES = [
  { ...PLACE, address: undefined, requestId: undefined, correlationId: undefined },
  { ...PLACE, address: '127.0.0.1', requestId: 'r1', correlationId: 'c1' },
];

const AGENTS: readonly AuditRecord['agent'][] = [
  {},
  { clientId: 'app' },
  { clientId: 'app', sessionId: '4be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e' },
  { clientId: 'app', userId: 'nurse', sessionId: '4be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e' },
];

const ENTITIES: readonly Partial<AuditRecord>[] = [
  {},
  { entity: { type: 'Observation' } },
  { entity: { type: 'Observation', id: 'o1' }, patients: ['p1', 'p2'] },
  { entity: { type: 'Patient', id: 'p1', version: 3 }, patients: ['p1'] },
  { entity: { type: 'User', id: 'nurse', version: 1 } },
  { query: 'name=a%20b', operation: '$everything' },
];

const KINDS: readonly Pick<AuditRecord, 'type' | 'subtype' | 'action' | 'failedWith'>[] = [
  { type: REST, subtype: interactionCoding('create'), action: 'C' },
  { type: REST, subtype: interactionCoding('vread'), action: 'R', failedWith: 404 },
  { type: REST, subtype: interactionCoding('patch'), action: 'U', failedWith: 503 },
  { type: REST, subtype: interactionCoding('delete'), action: 'D' },
  { type: AUTHENTICATION, subtype: LOGIN, action: 'E' },
  { type: AUTHENTICATION, subtype: LOGOUT, action: 'E' },
  { type: AUDIT_LOG_USED, subtype: interactionCoding('search-type'), action: 'E' },
];

it('is a valid R4 AuditEvent for every kind of record, since writes of audit records are not validated', () => {
  const records = KINDS.flatMap((kind) =>
    AGENTS.flatMap((agent) => ENTITIES.map((entity): AuditRecord => ({ ...kind, ...entity, agent }))),
  );
  const events = records.flatMap((record) => PLACES.map((place) => auditEventOf(record, place)));
  const issues = events.flatMap((event) => validator.validate('AuditEvent', { resourceType: 'AuditEvent', ...event }));
  expect([events.length, issues]).toEqual([336, []]);
});
