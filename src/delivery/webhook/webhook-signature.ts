import { createHmac } from 'node:crypto';
import { type Notification } from '../delivery-kind';

const PREFIX = 'whsec_';
/** Minimum and maximum length of a secret (Standard Webhooks 1.0, "Symmetric Signature"). */
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** Decodes a secret in base64, with or without the prefix `whsec_`. Returns undefined if it is none. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replaceAll('=', '') === text.replaceAll('=', '');
  return isWhole && key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

/**
 * One signature for each secret (Standard Webhooks 1.0, https://www.standardwebhooks.com).
 * @param secrets secrets that {@link signingKeyOf} can decode
 * @param message the message to sign, with the time of the attempt, not of the batch
 */
export function webhookSignature(
  secrets: readonly string[],
  { id, timestampSeconds, body }: Notification & { readonly timestampSeconds: number },
): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', signingKeyOf(secret) ?? '');
      return `v1,${hmac.update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
