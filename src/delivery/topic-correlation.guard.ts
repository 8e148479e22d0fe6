import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { RequestContext } from '../platform/request/request-context';

/** Printable ASCII: the value ends up in the logs of receivers, and HTTP defines no encoding for the rest. */
const HANDED_ON = /^[\x20-\x7e]{1,256}$/;

/**
 * Takes the header `SVC_TOPIC_CORRELATION_HEADER` for the events that a request causes. An invalid value is refused on
 * all routes, also on reads, since the stored topics decide which requests cause events.
 */
@Injectable()
export class TopicCorrelationGuard implements CanActivate {
  constructor(
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    return this.take(context.switchToHttp().getRequest<Request>());
  }

  /** As {@link canActivate}, for routes without guards, such as the pages of Swagger UI. */
  take(request: Request): true {
    const name = this.environment.topicCorrelationHeader;
    const value = request.get(name);
    // A request inside another one (an entry of a Bundle) has the value of the outer request.
    if (value === undefined || value === '' || request !== this.requests.origin) return true;
    if (!HANDED_ON.test(value))
      throw new ServiceError('header-invalid', `${name} must be 1 to 256 printable ASCII characters, or be left out.`);
    this.requests.correlateEvents(value);
    return true;
  }
}
