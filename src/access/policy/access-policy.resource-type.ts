import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../../model/resource-type';

@Injectable()
@DefinesResourceType({
  type: 'AccessPolicy',
  isNative: true,
  searchParameters: [
    { code: 'link', kind: 'reference', expression: 'AccessPolicy.link', targets: ['User', 'Client', 'Operation'] },
    { code: 'engine', kind: 'token', expression: 'AccessPolicy.engine' },
  ],
})
export class AccessPolicyResourceType {}
