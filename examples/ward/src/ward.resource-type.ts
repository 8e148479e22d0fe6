import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from 'svc-health-server';

@Injectable()
@DefinesResourceType({
  type: 'Ward',
  searchParameters: [
    { code: 'site', kind: 'token', expression: 'Ward.site' },
    { code: 'head', kind: 'reference', expression: 'Ward.head', targets: ['Practitioner'] },
  ],
})
export class WardResourceType {}
