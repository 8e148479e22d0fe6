import { type Request } from 'express';
import { type Environment } from '../../platform/config/environment';
import { rootOfOriginal } from './original-uri';

/**
 * The base of all links of an answer. The API answers on `/fhir/…` and on `/…`, and links keep the root of the request.
 * A trusted proxy may send the caller's original address in `X-Original-Uri`.
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

/** The same decision as Express makes for `X-Forwarded-*`, by `SVC_TRUSTED_PROXIES`. */
function isFromTrustedProxy({ app, socket }: Request): boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return socket.remoteAddress !== undefined && isTrusted(socket.remoteAddress, 0);
}
