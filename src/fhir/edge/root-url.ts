import { type Request } from 'express';
import { type Environment } from '../../platform/config/environment';
import { rootOfOriginal } from './original-uri';

/**
 * The beginning of all links of an answer: the API answers on `/fhir/…` and on `/…` alike, and links stay on the root that was
 * called. A trusted proxy may name the address that its caller used in `X-Original-Uri`.
 */
export function rootUrlOf(request: Request, { baseUrl }: Environment): string {
  const { path, headers } = request;
  const isOnFhir = /^\/fhir(\/|$)/.test(path);
  const original = headers['x-original-uri'];
  const root =
    typeof original === 'string' && isFromTrustedProxy(request)
      ? rootOfOriginal(original, isOnFhir ? path.slice('/fhir'.length) : path, baseUrl)
      : undefined;
  return root ?? (isOnFhir ? `${baseUrl}/fhir` : baseUrl);
}

/** As Express decides about `X-Forwarded-*`, by `SVC_TRUSTED_PROXIES`. */
function isFromTrustedProxy({ app, socket }: Request): boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return socket.remoteAddress !== undefined && isTrusted(socket.remoteAddress, 0);
}
