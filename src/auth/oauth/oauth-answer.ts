import { type Response } from 'express';

/** Answers JSON that nobody may keep: it is about tokens (RFC 6749, section 5.1). */
export function sendUnstored(response: Response, text: string): void {
  forbidStoring(response).type('application/json').send(text);
}

/** `Pragma` is for caches of HTTP/1.0. */
export function forbidStoring(response: Response): Response {
  return response.setHeader('Cache-Control', 'no-store').setHeader('Pragma', 'no-cache');
}

/** Notes the Client that was authenticated, for the log line of a later refusal. */
export function noteClient(response: Response, clientId: string): void {
  response.locals[CLIENT_ID] = clientId;
}

export function notedClient(response: Response): string | undefined {
  const clientId: unknown = response.locals[CLIENT_ID];
  return typeof clientId === 'string' ? clientId : undefined;
}

const CLIENT_ID = 'oauthClientId';
