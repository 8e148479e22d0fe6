import { ServiceError } from './service-error';

/**
 * The refusal of a value of a parameter.
 * @param expression the path of the value, for the OperationOutcome
 */
export const parameterInvalid = (message: string, expression?: string): ServiceError =>
  new ServiceError('parameter-value-invalid', message, expression === undefined ? {} : { expression });
