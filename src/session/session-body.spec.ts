import { expect, it } from '@jest/globals';
import { ElementTables } from '../fhir/definitions/element-tables';
import { ResourceDraft } from '../model/resource-draft';
import { ResourceValidator } from '../validator/validator';
import { SESSION_SHAPE } from './session.shape';
import { type NewSession } from './session-tokens.repository';
import { sessionBody } from './sessions';

const validator = new ResourceValidator(new ElementTables(SESSION_SHAPE, new Set(), new Set(['Session'])));

const NOW = new Date('2026-11-23T10:00:00.000Z');

const OF_CLIENT: NewSession = {
  id: '4be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e',
  grantType: 'client_credentials',
  userId: undefined,
  clientId: 'app',
  accessToken: 'secret',
  jti: '4be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e',
  issuer: 'http://svc.example',
  kid: undefined,
  expiresAt: new Date('2099-01-01T00:00:00.000Z'),
  refresh: undefined,
  parentId: undefined,
  scope: undefined,
  audience: undefined,
};

const REFRESH = { token: 'secret', familyId: 'f', grantType: 'password', scope: undefined, audience: undefined };

const SESSIONS: readonly NewSession[] = [
  OF_CLIENT,
  { ...OF_CLIENT, grantType: 'password', userId: 'nurse', refresh: { ...REFRESH, expiresAt: undefined } },
  {
    ...OF_CLIENT,
    grantType: 'refresh_token',
    userId: 'nurse',
    kid: 'k1',
    refresh: { ...REFRESH, expiresAt: new Date('2099-01-01T00:00:00.000Z') },
    parentId: '5be1a0b4-50d4-4d3f-9b0e-0b8f2a3f1f0e',
    scope: 'openid fhirUser',
    audience: 'http://a.example http://b.example',
  },
];

it('matches the shape of a Session for every grant, since the write itself is not validated', () => {
  const bodies = SESSIONS.map((session) => ResourceDraft.own('Session', sessionBody(session, NOW)).value);
  expect(bodies.flatMap((body) => validator.validate('Session', body))).toEqual([]);
  expect(JSON.stringify(bodies)).not.toContain('secret');
});
