import { type Response } from 'express';
import { type Produce, sendBody } from '../platform/http/send-body';

/** Sends JSON text as it is, without parsing or serializing it. */
export async function sendJson(
  response: Response,
  status: number,
  body: string | Produce,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  response.vary('Accept-Encoding');
  const head = { status, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers } };
  await sendBody(response, head, body);
}
