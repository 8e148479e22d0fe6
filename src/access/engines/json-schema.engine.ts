import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { compileSchema } from '../json-schema/compile-schema';
import { partsOfSchema } from '../json-schema/parts-of-schema';
import { EngineOf, type PolicyCheck, type PolicyEngine } from '../policy/policy-engine';

/** Grants a request if its request object, without empty values, is valid against the JSON schema in `schema`. */
@Injectable()
@EngineOf('json-schema')
export class JsonSchemaEngine implements PolicyEngine {
  readonly members = ['schema'];

  compile({ schema }: Resource): PolicyCheck {
    const validate = compileSchema(schema);
    const parts = partsOfSchema(schema);
    return async (request) => validate(await request.read(parts));
  }
}
