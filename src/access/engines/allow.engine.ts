import { Injectable } from '@nestjs/common';
import { EngineOf, type PolicyEngine } from '../policy-engine';

/** Grants whatever the policy's links cover. */
@Injectable()
@EngineOf('allow')
export class AllowEngine implements PolicyEngine {
  grants(): boolean {
    return true;
  }
}
