import { type Response } from 'express';

/** Answers JSON that nobody may keep: it is about tokens (RFC 6749, section 5.1). */
export function sendUnstored(response: Response, text: string): void {
  forbidStoring(response).type('application/json').send(text);
}

/** `Pragma` is for caches of HTTP/1.0. */
export function forbidStoring(response: Response): Response {
  return response.setHeader('Cache-Control', 'no-store').setHeader('Pragma', 'no-cache');
}
