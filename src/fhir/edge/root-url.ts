import { type Request } from 'express';
import { type Environment } from '../../platform/config/environment';
import { rootOfOriginal } from './original-uri';

/**
 * The base of all links in an answer. The API answers on `/fhir/…` and on `/…`; links have the root that the request
 * used. A trusted proxy may send the original address of the caller in `X-Original-Uri`.
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

/**
 * Whether a trusted proxy sent the request, by `SVC_TRUSTED_PROXIES`. Express decides the same way for `X-Forwarded-*`.
 */
function isFromTrustedProxy({ app, socket }: Request): boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return socket.remoteAddress !== undefined && isTrusted(socket.remoteAddress, 0);
}
