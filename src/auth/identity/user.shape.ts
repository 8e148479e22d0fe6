import { type OwnShapes, OTHER_MEMBERS } from '../../fhir/definitions/element-tables';
import { strings } from './shape';

/**
 * Members of a User, nearly as in SCIM (RFC 7643, section 4.1). Other members are stored too, since policies may read
 * them.
 */
export const USER_SHAPE: OwnShapes = {
  User: {
    ...strings('userName', 'email', 'password', 'displayName', 'title', 'userType', 'profileUrl', 'photo', 'gender'),
    ...strings('locale', 'timezone', 'preferredLanguage', 'phoneNumber', 'employeeNumber', 'costCenter', 'department'),
    ...strings('division', 'passwordResetJti'),
    inactive: '0..1 boolean',
    active: '0..1 boolean',
    name: '0..1 User.name',
    emails: '0..* User.value',
    phoneNumbers: '0..* User.value',
    ims: '0..* User.value',
    photos: '0..* User.value',
    roles: '0..* User.value',
    entitlements: '0..* User.value',
    x509Certificates: '0..* User.value',
    addresses: '0..* User.addresses',
    organization: '0..1 NativeReference(Organization)',
    manager: '0..1 NativeReference(User)',
    identifier: '0..* Identifier',
    data: '0..1 Any',
    fhirUser: '0..1 NativeReference(Patient,Practitioner,PractitionerRole,Person,RelatedPerson)',
    link: '0..* User.link',
    securityLabel: '0..* User.securityLabel',
    twoFactor: '0..1 User.twoFactor',
    ...OTHER_MEMBERS,
  },
  'User.name': {
    ...strings('formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'),
    ...OTHER_MEMBERS,
  },
  'User.value': { ...strings('value', 'display', 'type'), primary: '0..1 boolean', ...OTHER_MEMBERS },
  'User.addresses': {
    ...strings('formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country', 'type'),
    ...OTHER_MEMBERS,
  },
  'User.link': { link: '0..1 NativeReference', ...strings('type'), ...OTHER_MEMBERS },
  'User.securityLabel': { ...strings('system', 'code'), ...OTHER_MEMBERS },
  'User.twoFactor': { enabled: '0..1 boolean', ...strings('transport', 'secretKey'), ...OTHER_MEMBERS },
};
