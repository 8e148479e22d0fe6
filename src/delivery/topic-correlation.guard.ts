import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Environment } from '../platform/config/environment';
import { ServiceError } from '../platform/errors/service-error';
import { RequestContext } from '../platform/request/request-context';

/** Printable ASCII: the value ends up in receivers' logs, and HTTP defines no encoding for other characters. */
const HANDED_ON = /^[\x20-\x7e]{1,256}$/;

/**
 * Guard for all routes: events of a request carry the value of its `SVC_TOPIC_CORRELATION_HEADER`. Invalid values are
 * refused on reads, too, since stored topics decide whether a request causes events.
 */
@Injectable()
export class TopicCorrelationGuard implements CanActivate {
  constructor(
    private readonly requests: RequestContext,
    private readonly environment: Environment,
  ) {}

  /** @throws ServiceError 'invalid' for a value that cannot be passed on unchanged */
  canActivate(context: ExecutionContext): boolean {
    return this.take(context.switchToHttp().getRequest<Request>());
  }

  /**
   * For routes without guards, such as the pages of Swagger UI.
   * @throws as {@link canActivate}
   */
  take(request: Request): true {
    const name = this.environment.topicCorrelationHeader;
    const value = request.get(name);
    // An inner request inherits the value of the outer one.
    if (value === undefined || value === '' || request !== this.requests.origin) return true;
    if (!HANDED_ON.test(value))
      throw new ServiceError('invalid', `${name} must be 1 to 256 printable ASCII characters, or be left out.`, {
        code: 'header-invalid',
      });
    this.requests.correlateEvents(value);
    return true;
  }
}
