import { ServiceError } from '../platform/errors/service-error';

/** Refuses a policy, naming the member at fault: `matcho.params`. */
export const policyFault = (member: string, reason: string): ServiceError =>
  new ServiceError('unprocessable', `AccessPolicy.${member} ${reason}.`, { expression: `AccessPolicy.${member}` });

/** A comparison that would hold everybody else up; the policy grants nothing then, whatever it negates. */
export class TooCostly extends Error {
  override readonly name = 'TooCostly';
}
