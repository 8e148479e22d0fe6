import { type Response } from 'express';
import { type JsonParts } from '../platform/json/json-parts';
import { Portions } from '../platform/http/portions';
import { type StreamLimits, sendStream } from '../platform/http/send-stream';
import { sendText } from '../platform/http/send-text';

const CONTENT_TYPE = 'application/json; charset=utf-8';

/** Sends JSON text as it is: nothing is parsed or serialised on the way. */
export function sendJson(
  response: Response,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', CONTENT_TYPE);
  response.vary('Accept-Encoding');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendText(response, text);
}

/** Sends `{"result"}` of 200 as its parts come; see {@link sendStream}. */
export async function sendResultParts(response: Response, limits: StreamLimits, { parts }: JsonParts): Promise<void> {
  response.statusCode = 200;
  const headers = { 'Content-Type': CONTENT_TYPE, Vary: 'Accept-Encoding' };
  await sendStream(response, headers, limits, async (sink) => {
    const portions = new Portions(sink);
    await portions.add(['{"result":']);
    for await (const part of parts) await portions.add([part]);
    await portions.add(['}']);
    await portions.flush();
  });
}
