import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { parseIsolationLevel } from '../../platform/request/isolation-level';
import { RequestContext } from '../../platform/request/request-context';

/** The header `x-max-isolation-level` sets the isolation level of the transactions of a write (ADR 0005). */
@Injectable()
export class IsolationGuard implements CanActivate {
  constructor(private readonly requests: RequestContext) {}

  /**
   * Sets the level for the request.
   * @throws ServiceError 'invalid' for an unknown level
   */
  canActivate(context: ExecutionContext): boolean {
    const header = context.switchToHttp().getRequest<Request>().get('x-max-isolation-level');
    if (header !== undefined) this.requests.isolate(parseIsolationLevel(header));
    return true;
  }
}
