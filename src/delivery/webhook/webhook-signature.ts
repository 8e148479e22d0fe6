import { createHmac } from 'node:crypto';
import { type Notification } from '../delivery-kind';

const PREFIX = 'whsec_';
/** Standard Webhooks 1.0, "Symmetric Signature". */
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** Decodes a secret: base64, with or without the prefix `whsec_`. Undefined unless it has 24 to 64 bytes. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole && key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

/**
 * The value of `webhook-signature`: one signature per secret, so that a receiver may use either while they change.
 * Source: Standard Webhooks 1.0 (https://www.standardwebhooks.com).
 * @param secrets that {@link signingKeyOf} can read
 * @param message with the time of the attempt, not of the batch
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
