import { createHmac } from 'node:crypto';

/** Standard Webhooks 1.0: a secret is base64 of 24 to 64 bytes, often written after this. */
const PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The key of a secret; undefined for what is none. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  if (!BASE64.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/**
 * Headers of Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
 * one signature for each secret, so that receivers can change theirs at leisure. Without secrets only the id.
 * @param timestampSeconds of the attempt, since 1970
 */
export function signatureHeaders(
  { id, body }: { readonly id: string; readonly body: Buffer },
  secrets: readonly string[],
  timestampSeconds: number,
): Record<string, string> {
  const keys = secrets.map(signingKeyOf).filter((key) => key !== undefined);
  if (keys.length === 0) return { 'webhook-id': id };
  const signatures = keys.map((key) => {
    const signature = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body).digest('base64');
    return `v1,${signature}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
