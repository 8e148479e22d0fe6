import { MASK, type Notification } from '../delivery-kind';
import { type WebhookSettings } from './webhook-settings';
import { webhookSignature } from './webhook-signature';

/** Header names in lower case; a name with several values is repeated. */
export type WebhookHeaders = Record<string, string | string[]>;

/** Values that change from attempt to attempt. */
export interface AttemptHeaders {
  readonly timestampSeconds: number;
  readonly traceparent: string | undefined;
}

/** A configured header replaces the server's header of the same name, and may itself be repeated. */
export function webhookHeaders(
  notification: Notification,
  { headers, secrets }: WebhookSettings,
  { timestampSeconds, traceparent }: AttemptHeaders,
): WebhookHeaders {
  const { id, body } = notification;
  const all: WebhookHeaders = {
    'content-type': 'application/json',
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'svc-health-server',
    'webhook-id': id,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  if (secrets.length > 0) {
    all['webhook-timestamp'] = String(timestampSeconds);
    all['webhook-signature'] = webhookSignature(secrets, { id, body, timestampSeconds });
  }
  for (const name of new Set(headers.map((header) => header.name.toLowerCase()))) {
    all[name] = headers.filter((header) => header.name.toLowerCase() === name).map(({ value }) => value);
  }
  return all;
}

/** The headers of every attempt: values that are configured, or that change with the attempt, are masked. */
export function shownHeaders(
  notification: Notification,
  settings: WebhookSettings,
): readonly { readonly name: string; readonly value: string }[] {
  const configured = new Set(settings.headers.map(({ name }) => name.toLowerCase()));
  const isMasked = (name: string): boolean =>
    configured.has(name) || name === 'webhook-timestamp' || name === 'webhook-signature';
  const headers = webhookHeaders(notification, settings, { timestampSeconds: 0, traceparent: undefined });
  return Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value: isMasked(name) ? MASK : value })),
  );
}
