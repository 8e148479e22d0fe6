import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { isDeepStrictEqual } from 'node:util';
import { AccessDecision } from '../../access/decision/access-decision';
import { Denials } from '../../access/denials/denials';
import { AccessRequests } from '../../access/request/access-requests';
import { isLenient, strictPrefer } from '../../platform/http/known-parameters';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { RequestContext } from '../../platform/request/request-context';
import {
  ENFORCES_ROWS,
  OPERATION_ID,
  type OperationIdOf,
  ROUTE_ACCESS,
  type RouteAccess,
} from '../../platform/http/route-access';
import { CallerResolver } from './caller-resolver';

type Asked = ReturnType<AccessRequests['ofHttp']>;

/** Identifies the caller and checks the policies on every route that is not public. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly callers: CallerResolver,
    private readonly access: AccessDecision,
    private readonly accessRequests: AccessRequests,
    private readonly denials: Denials,
    private readonly requests: RequestContext,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<RouteAccess | undefined>(ROUTE_ACCESS, route);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const { caller, epochs } = await this.callers.of(request);
    this.requests.identify(caller, epochs);
    if (access === 'token') return true;
    const operationIdOf = this.reflector.getAllAndOverride<OperationIdOf | undefined>(OPERATION_ID, route);
    const asked = this.accessRequests.ofHttp(request, caller, operationIdOf?.(request));
    if (access === 'parts') return true;
    const decision = await this.access.decide(asked);
    const enforcesRows = this.reflector.getAllAndOverride<boolean | undefined>(ENFORCES_ROWS, route) ?? false;
    const { rows } = decision;
    if (rows === undefined || (rows !== 'all' && !enforcesRows)) throw await this.denials.refusalOf(asked, decision);
    await this.requireKnownParameters(request, asked, rows);
    this.requests.grant(rows);
    return true;
  }

  /**
   * Ignores `Prefer: handling=lenient` if the grant depends on the parameters that were sent. Otherwise a route could
   * ignore a parameter that a policy requires: `/Observation/o2?patient=p1` would read an Observation of any patient.
   */
  private async requireKnownParameters(request: Request, asked: Asked, rows: GrantedRows): Promise<void> {
    const { prefer } = request.headers;
    if (typeof prefer !== 'string' || !isLenient(prefer)) return;
    const without = await this.access.decide(this.accessRequests.withoutQuery(asked));
    if (!isDeepStrictEqual(without.rows, rows)) request.headers.prefer = strictPrefer(prefer);
  }
}
