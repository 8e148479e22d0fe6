import { stringify } from 'lossless-json';
import { type HttpBody } from './http-client';

/** Creates a JSON body; a `LosslessNumber` in it keeps its digits. */
export function jsonBody(value: object): HttpBody {
  return { json: stringify(value) ?? '' };
}
