import { type Ajv, type ErrorObject } from 'ajv';
import { TooCostly } from '../../platform/errors/too-costly';
import { faultOfSchema } from '../../platform/json-schema/schema-bounds';
import { strictAjv } from '../../platform/json-schema/strict-ajv';
import { type FailedClause } from '../policy/policy-engine';
import { policyFault } from '../policy/policy-fault';
import { type RequestObject } from '../request/access-request';
import { withoutEmpty } from './without-empty';

/**
 * Compiles a JSON schema (draft-07) of the request object.
 * @throws ServiceError 'unprocessable' for a keyword or format that the validator would ignore, or for a schema that
 * could be costly to evaluate
 */
export function compileSchema(schema: unknown): (request: RequestObject) => FailedClause | undefined {
  const fault = faultOfSchema(schema);
  if (fault !== undefined) throw policyFault('schema', fault);
  const validate = validatorOf(schema as object);
  return (request) => {
    try {
      return validate(withoutEmpty(request)) === true ? undefined : failureOf(validate.errors?.[0]);
    } catch (error) {
      if (error instanceof TooCostly) return { path: 'schema', reason: 'the request is too large for a schema' };
      throw error;
    }
  };
}

function validatorOf(schema: object): ReturnType<Ajv['compile']> {
  try {
    return strictAjv().compile(schema);
  } catch (error) {
    throw policyFault('schema', `cannot be used: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown'}`);
  }
}

/** The failed clause of a schema: the position of the keyword in the schema, never a value of the request. */
const failureOf = (error: ErrorObject | undefined): FailedClause => ({
  path: `schema${(error?.schemaPath ?? '').replace(/^#/, '').replaceAll('/', '.')}`,
  reason: `the keyword ${error?.keyword ?? ''} does not hold`,
});
