import { Injectable } from '@nestjs/common';
import { DefinesResourceType } from '../model/resource-type';
import { SESSION_SHAPE } from './session.shape';

/** One Session per access token (interface, "Session"). */
@Injectable()
@DefinesResourceType({
  type: 'Session',
  isNative: true,
  shape: SESSION_SHAPE,
  refusedWrites: {
    create: { message: 'A Session begins with a token only: send POST /auth/token.', kind: 'unprocessable' },
    'conditional-delete': {
      message: 'A Session is closed by its id, or by its token: DELETE /Session without criteria.',
    },
  },
  searchParameters: [
    { code: 'user', kind: 'reference', expression: 'Session.user', targets: ['User'] },
    { code: 'client', kind: 'reference', expression: 'Session.client', targets: ['Client'] },
    { code: 'parent', kind: 'reference', expression: 'Session.parent', targets: ['Session'] },
    { code: 'active', kind: 'token', expression: 'Session.active' },
    { code: 'type', kind: 'token', expression: 'Session.type' },
    { code: 'start', kind: 'date', expression: 'Session.start' },
  ],
})
export class SessionResourceType {}
