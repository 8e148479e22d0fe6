import { type Response } from 'express';
import { sendText } from '../platform/http/send-text';

/** Sends JSON text as it is: nothing is parsed or serialised on the way. */
export function sendJson(
  response: Response,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.vary('Accept-Encoding');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendText(response, text);
}
