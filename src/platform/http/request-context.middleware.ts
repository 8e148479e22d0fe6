import { randomUUID } from 'node:crypto';
import { type RequestHandler } from 'express';
import { type RequestContext } from './request-context';

/** What a caller may choose as request id: short, and harmless in a log line. */
const REQUEST_ID = /^[\w.:-]{1,64}$/;

/** Gives each request an id (the caller's `X-Request-Id` where it is harmless) and a context; the answer tells the id. */
export function requestContext(requests: RequestContext): RequestHandler {
  return (request, response, next) => {
    const asked = request.get('x-request-id');
    const requestId = asked !== undefined && REQUEST_ID.test(asked) ? asked : randomUUID();
    response.setHeader('X-Request-Id', requestId);
    requests.run(requestId, next, request);
  };
}
