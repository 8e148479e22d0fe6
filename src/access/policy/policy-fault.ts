import { ServiceError } from '../../platform/errors/service-error';

/** Refuses a policy, naming the member at fault: `matcho.params`. */
export const policyFault = (member: string, reason: string): ServiceError =>
  new ServiceError('unprocessable', `AccessPolicy.${member} ${reason}.`, {
    code: 'policy-invalid',
    expression: `AccessPolicy.${member}`,
  });
