import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { Environment } from '../../platform/config/environment';
import { compileMatcho } from '../matcho/compile-matcho';
import { EngineOf, type PolicyCheck, type PolicyEngine } from '../policy/policy-engine';

/** Grants a request if its request object matches the pattern in `matcho`. */
@Injectable()
@EngineOf('matcho')
export class MatchoEngine implements PolicyEngine {
  readonly members = ['matcho'];

  constructor(private readonly environment: Environment) {}

  compile({ matcho }: Resource): PolicyCheck {
    const { parts, match } = compileMatcho(matcho, 'matcho', this.environment.baseUrl);
    return async (request) => match(await request.read(parts));
  }
}
