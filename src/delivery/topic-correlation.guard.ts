import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { RequestContext } from '../platform/request/request-context';

/** Printable ASCII: it ends up in logs of receivers, and of other letters HTTP does not tell the encoding. */
const HANDED_ON = /^[\x20-\x7e]{1,256}$/;

/**
 * Stands before all routes: events of the request are delivered with what it brings in `SVC_TOPIC_CORRELATION_HEADER`.
 * Reads are refused, too, since whether a request makes events depends on the topics that are stored.
 */
@Injectable()
export class TopicCorrelationGuard implements CanActivate {
  constructor(
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  /** @throws ServiceError 'invalid' for what cannot be handed on as it is */
  canActivate(context: ExecutionContext): boolean {
    return this.take(context.switchToHttp().getRequest<Request>());
  }

  /**
   * For what no guard stands before, such as the pages of Swagger UI.
   * @throws as {@link canActivate}
   */
  take(request: Request): true {
    const name = this.environment.topicCorrelationHeader;
    const value = request.get(name);
    // An inner request has what the outer one brought.
    if (value === undefined || value === '' || request !== this.requests.origin) return true;
    if (!HANDED_ON.test(value))
      throw new ServiceError('invalid', `${name} must be 1 to 256 printable ASCII characters, or be left out.`);
    this.requests.correlateEvents(value);
    return true;
  }
}
