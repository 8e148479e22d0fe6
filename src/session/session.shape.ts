import { type OwnShapes } from '../fhir/definitions/element-tables';

/** Members of a Session. Its rule makes most of them immutable. */
export const SESSION_SHAPE: OwnShapes = {
  Session: {
    type: '0..1 string',
    user: '0..1 NativeReference(User)',
    client: '0..1 NativeReference(Client)',
    'on-behalf': '0..1 NativeReference(User)',
    parent: '0..1 NativeReference(Session)',
    patient: '0..1 NativeReference(Patient)',
    start: '0..1 dateTime',
    end: '0..1 dateTime',
    active: '1..1 boolean',
    // Seconds since 1970. From 2038 on they exceed FHIR's 32-bit integers, so the type is decimal.
    exp: '0..1 decimal',
    refresh_token_exp: '0..1 decimal',
    access_token: '0..1 string',
    refresh_token: '0..1 string',
    authorization_code: '0..1 string',
    jti: '0..1 string',
    iss: '0..1 string',
    audience: '0..1 string',
    scope: '0..* string',
    ctx: '0..1 Any',
  },
};
