import { Ajv, type ErrorObject } from 'ajv';
import { LinearRegex } from '../matcho/linear-regex';
import { type FailedClause } from '../policy-engine';
import { policyFault, TooCostly } from '../policy-fault';
import { type RequestObject } from '../request/access-request';
import { faultOfSchema } from './schema-bounds';
import { withoutEmpty } from './without-empty';

/** Patterns of a schema never backtrack, just as those of matcho. */
const linearRegExp = Object.assign(
  (pattern: string): { test: (text: string) => boolean } => {
    const regex = LinearRegex.compile(pattern);
    if (typeof regex === 'string') throw new Error(`a pattern ${regex}`);
    return { test: (text) => regex.isIn(text) };
  },
  { code: 'linearRegExp' },
);

/**
 * Compiles a JSON schema (draft-07) of the request object.
 * @throws ServiceError 'unprocessable' for a keyword or format that would be ignored, or a schema that could be costly
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
  // Unknown keywords and formats are errors: a condition that is not read would grant too much.
  const ajv = new Ajv({
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    logger: false,
    inlineRefs: false,
    addUsedSchema: false,
    code: { regExp: linearRegExp },
  });
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw policyFault('schema', `cannot be used: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown'}`);
  }
}

/** Where the schema failed, never what stood there. */
const failureOf = (error: ErrorObject | undefined): FailedClause => ({
  path: `schema${(error?.schemaPath ?? '').replace(/^#/, '').replaceAll('/', '.')}`,
  reason: `the keyword ${error?.keyword ?? ''} does not hold`,
});
