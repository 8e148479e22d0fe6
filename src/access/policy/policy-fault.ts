import { ServiceError } from '../../platform/errors/service-error';

/** The error of an invalid policy. It names the member that is wrong, such as `matcho.params`. */
export const policyFault = (member: string, reason: string, hint = ''): ServiceError =>
  new ServiceError('policy-invalid', `AccessPolicy.${member} ${reason}.${hint}`, {
    expression: `AccessPolicy.${member}`,
  });
