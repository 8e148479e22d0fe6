import { type RequestHandler } from 'express';

/**
 * Lets one request under `path` into each turn of the event loop. Hundreds that arrive together would else be parsed, answered and
 * logged in a single turn, and everybody else would wait for all of them. Stands first: what waits here has no context yet.
 */
export function pacedRequests(path: string): RequestHandler {
  const waiting: (() => void)[] = [];
  const admit = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(admit);
  };
  return (request, _response, next) => {
    if (!request.url.startsWith(path)) {
      next();
      return;
    }
    waiting.push(next);
    if (waiting.length === 1) setImmediate(admit);
  };
}
