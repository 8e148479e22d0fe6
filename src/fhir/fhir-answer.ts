import { type Response } from 'express';

/** What an edge sends: a body of known JSON text and its status. */
export interface FhirAnswer {
  readonly status: number;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const FHIR_JSON = 'application/fhir+json; charset=utf-8';

/** Sends the text as it is: nothing is parsed or serialised on the way. */
export function sendAnswer(response: Response, { status, text, headers = {} }: FhirAnswer): void {
  response.statusCode = status;
  if (text !== undefined) response.setHeader('Content-Type', FHIR_JSON);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(text);
}
