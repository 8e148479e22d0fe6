import { type RequestHandler } from 'express';

/** More than these wait: a burst. */
const FEW = 8;

/**
 * Lets one request under `path` into each turn of the event loop, and of a burst one in `burstPauseMilliseconds`. Hundreds that arrive
 * together would else be parsed, answered and logged in a single turn, and everybody else would wait for all of them. libuv accepts one
 * connection a turn, so whoever connects meanwhile waits for as many turns as others connected before: a burst must not make them long.
 * Stands first: what waits here has no context yet.
 */
export function pacedRequests(path: string, burstPauseMilliseconds = 0): RequestHandler {
  const waiting: (() => void)[] = [];
  const admit = (): void => {
    waiting.shift()?.();
    if (waiting.length > FEW && burstPauseMilliseconds > 0) setTimeout(admit, burstPauseMilliseconds);
    else if (waiting.length > 0) setImmediate(admit);
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
