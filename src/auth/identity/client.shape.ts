import { type OwnShapes, OTHER_MEMBERS } from '../../fhir/definitions/element-tables';
import { strings } from './shape';

const lifetimes = { access_token_expiration: '0..1 positiveInt', refresh_token_expiration: '0..1 positiveInt' };
const token = { token_format: '0..1 code', refresh_token: '0..1 boolean', audience: '0..* string' };
const redirect = { redirect_uri: '0..1 url', secret_required: '0..1 boolean' };

/**
 * Members of a Client. The server reads `active`, `secret`, `grant_types`, `scope`, and in `auth` the grants that it
 * supports. The other members are only stored.
 */
export const CLIENT_SHAPE: OwnShapes = {
  Client: {
    ...strings('name', 'description', 'type', 'secret', 'fhir-base-url', 'audience', '_source'),
    active: '0..1 boolean',
    grant_types: '0..* string',
    first_party: '0..1 boolean',
    trusted: '0..1 boolean',
    scope: '0..* string',
    scopes: '0..* Client.scopes',
    'allowed-scopes': '0..* NativeReference',
    allowed_origins: '0..* uri',
    allowedIssuers: '0..* string',
    jwks: '0..* Client.jwks',
    jwks_uri: '0..1 url',
    details: '0..1 Any',
    smart: '0..1 Client.smart',
    auth: '0..1 Client.auth',
  },
  'Client.scopes': { policy: '0..1 NativeReference(AccessPolicy)', parameters: '0..1 Any' },
  'Client.jwks': { ...strings('kid', 'e', 'n'), kty: '1..1 code', alg: '0..1 code', use: '0..1 code' },
  'Client.smart': { launch_uri: '0..1 url', ...strings('name', 'description') },
  'Client.auth': {
    password: '0..1 Client.auth.password',
    client_credentials: '0..1 Client.auth.client_credentials',
    authorization_code: '0..1 Client.auth.authorization_code',
    implicit: '0..1 Client.auth.implicit',
    token_exchange: '0..1 Client.auth.token_exchange',
    // Settings of grants that other teams add. ClientRule refuses any other member.
    ...OTHER_MEMBERS,
  },
  'Client.auth.password': { ...token, ...lifetimes, ...redirect, token_expiration: '0..1 positiveInt' },
  'Client.auth.client_credentials': {
    ...token,
    ...lifetimes,
    token_expiration: '0..1 positiveInt',
    client_assertion_types: '0..* string',
  },
  'Client.auth.authorization_code': {
    ...token,
    ...lifetimes,
    ...redirect,
    client_assertion_types: '0..* string',
    pkce: '0..1 boolean',
    default_identity_provider: '0..1 NativeReference',
  },
  'Client.auth.implicit': { ...token, ...lifetimes, redirect_uri: '0..1 url' },
  'Client.auth.token_exchange': { ...token, ...lifetimes },
};
