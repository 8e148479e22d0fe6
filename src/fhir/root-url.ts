import { type Request } from 'express';
import { type Environment } from '../platform/config/environment';

/** What links of an answer begin with: the API answers on `/fhir/…` and on `/…` alike, and links stay on the root that was called. */
export const rootUrlOf = ({ path }: Request, { baseUrl }: Environment): string =>
  /^\/fhir(\/|$)/.test(path) ? `${baseUrl}/fhir` : baseUrl;
