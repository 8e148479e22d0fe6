import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../../model/resource-type';
import { CLIENT_SHAPE } from './client.shape';
import { USER_SHAPE } from './user.shape';

@Injectable()
@DefinesResourceType({
  type: 'Client',
  isNative: true,
  shape: CLIENT_SHAPE,
  searchParameters: [
    { code: 'active', kind: 'token', expression: 'Client.active' },
    { code: 'grant-type', kind: 'token', expression: 'Client.grant_types' },
  ],
})
export class ClientResourceType {}

@Injectable()
@DefinesResourceType({
  type: 'User',
  isNative: true,
  shape: USER_SHAPE,
  searchParameters: [
    { code: 'userName', kind: 'token', expression: 'User.userName' },
    { code: 'email', kind: 'token', expression: 'User.email' },
    { code: 'inactive', kind: 'token', expression: 'User.inactive' },
  ],
})
export class UserResourceType {}
