import { type Response } from 'express';

/** Sends JSON that must not be cached, since it concerns tokens (RFC 6749, section 5.1). */
export function sendUnstored(response: Response, text: string): void {
  forbidStoring(response).type('application/json').send(text);
}

/** Sets the headers that forbid caches to store the response. `Pragma` is for HTTP/1.0 caches. */
export function forbidStoring(response: Response): Response {
  return response.setHeader('Cache-Control', 'no-store').setHeader('Pragma', 'no-cache');
}
