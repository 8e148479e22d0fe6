import { type Request } from 'express';
import { type Environment } from '../../platform/config/environment';

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

/** Maximum length of an address that is read; proxies accept no longer request lines. */
const LONGEST = 8_192;

/**
 * The root of links, taken from the address that a caller used: `https://gw.example/clinic/fhir/Patient?name=x` for
 * `/Patient`. The address may also be only a path, which is then resolved against `baseUrl`.
 * @param below the path of the request, without the root
 * @returns undefined for other texts, and if the address does not end with the called path
 */
export function rootOfOriginal(original: string, below: string, baseUrl: string): string | undefined {
  if (original.length > LONGEST || !/^(https?:\/\/|\/(?!\/))/i.test(original)) return undefined;
  const url = urlOf(original, baseUrl);
  if (url?.username !== '' || url.password !== '') return undefined;
  const called = pathnameOf(urlOf(`/${below.replace(/^\/+/, '')}`, baseUrl));
  const path = pathnameOf(url);
  if (called === undefined || path?.endsWith(called) !== true) return undefined;
  return `${url.origin}${path.slice(0, path.length - called.length)}`;
}

const urlOf = (text: string, base: string): URL | undefined =>
  URL.canParse(text, base) ? new URL(text, base) : undefined;

const pathnameOf = (url: URL | undefined): string | undefined => url?.pathname.replace(/(?<!\/)\/+$/, '');
