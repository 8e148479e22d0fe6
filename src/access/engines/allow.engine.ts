import { Injectable } from '@nestjs/common';
import { EngineOf, type PolicyCheck, type PolicyEngine } from '../policy/policy-engine';

/** Grants every request of the callers, or to the Operations, that the policy's `link` names. */
@Injectable()
@EngineOf('allow')
export class AllowEngine implements PolicyEngine {
  compile(): PolicyCheck {
    return () => undefined;
  }
}
