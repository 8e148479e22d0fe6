import { randomUUID } from 'node:crypto';
import { type Request, type RequestHandler } from 'express';
import { type MemoryBudget } from '../admission/memory-budget';
import { RequestTicket } from '../admission/ticket';
import { type RequestContext } from '../request/request-context';
import { NO_SNIFFING } from './security-headers';

/** Ids of callers: short, and harmless in a log line. */
const HARMLESS_ID = /^[\w.:-]{1,64}$/;

/**
 * Gives each request an id (the caller's `X-Request-Id` if it is harmless), a ticket and a context. The response has
 * the id in a header, and the caller's `X-Correlation-Id` if that is harmless too. This middleware is mounted first, so
 * that every response gets the common headers.
 */
export function requestContext(requests: RequestContext, budget: MemoryBudget): RequestHandler {
  return (request, response, next) => {
    const requestId = harmlessId(request, 'x-request-id') ?? randomUUID();
    const correlationId = harmlessId(request, 'x-correlation-id');
    response.setHeader(...NO_SNIFFING);
    response.setHeader('X-Request-Id', requestId);
    if (correlationId !== undefined) response.setHeader('X-Correlation-Id', correlationId);
    const ticket = new RequestTicket(request, response, budget);
    requests.run(requestId, next, { origin: request, ticket, correlationId });
  };
}

function harmlessId(request: Request, header: string): string | undefined {
  const asked = request.get(header);
  return asked !== undefined && HARMLESS_ID.test(asked) ? asked : undefined;
}
