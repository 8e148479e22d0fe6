import { ServiceError } from '../../platform/errors/service-error';

export const tooManyLogins = (): ServiceError =>
  new ServiceError('busy', 'Too many logins at once. Try again.', { retryAfterSeconds: 1 });
