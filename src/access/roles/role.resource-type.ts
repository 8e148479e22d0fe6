import { Injectable } from '@nestjs/common';
import { type OwnShapes } from '../../fhir/definitions/element-tables';
import { DefinesResourceType } from '../../model/resource-type';

/**
 * Members of a Role, which gives a User a role in a context. A policy with this name in `roleName` covers that User.
 * Several Roles may have the same name.
 */
const ROLE_SHAPE: OwnShapes = {
  Role: {
    name: '1..1 string',
    user: '1..1 NativeReference(User)',
    links: '0..1 Role.links',
    context: '0..1 Any',
    description: '0..1 string',
  },
  'Role.links': {
    patient: '0..1 NativeReference(Patient)',
    practitioner: '0..1 NativeReference(Practitioner)',
    practitionerRole: '0..1 NativeReference(PractitionerRole)',
    organization: '0..1 NativeReference(Organization)',
    person: '0..1 NativeReference(Person)',
    relatedPerson: '0..1 NativeReference(RelatedPerson)',
  },
};

@Injectable()
@DefinesResourceType({
  type: 'Role',
  isNative: true,
  shape: ROLE_SHAPE,
  searchParameters: [
    { code: 'name', kind: 'token', expression: 'Role.name' },
    { code: 'user', kind: 'reference', expression: 'Role.user', targets: ['User'] },
  ],
})
export class RoleResourceType {}
