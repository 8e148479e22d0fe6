import { type Response } from 'express';

/** Sends JSON text as it is: nothing is parsed or serialised on the way. */
export function sendJson(
  response: Response,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(text);
}
