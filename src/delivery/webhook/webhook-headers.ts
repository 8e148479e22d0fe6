import { MASK, type Notification } from '../delivery-kind';
import { type WebhookSettings } from './webhook-settings';
import { webhookSignature } from './webhook-signature';

/** Headers by name in lower case. A header with several values is sent several times. */
export type WebhookHeaders = Record<string, string | string[]>;

/** Values that change from attempt to attempt. */
export interface AttemptHeaders {
  readonly timestampSeconds: number;
  readonly traceparent: string | undefined;
}

/**
 * Returns the headers whose values `$request` shows. Any other header is configured or changes with each attempt, so
 * its value is hidden.
 */
const shownValues = (id: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': 'svc-health-server',
  'webhook-id': id,
});

/**
 * Returns the headers of an attempt. A configured header replaces the server's header of the same name, and may occur
 * several times.
 */
export function webhookHeaders(
  { id, body }: Notification,
  { headers, secrets }: WebhookSettings,
  { timestampSeconds, traceparent }: AttemptHeaders,
): WebhookHeaders {
  const configured = headers.map(({ name, value }) => ({ name: name.toLowerCase(), value }));
  return {
    ...shownValues(id),
    ...(traceparent !== undefined && { traceparent }),
    ...(secrets.length > 0 && {
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': webhookSignature(secrets, { id, body, timestampSeconds }),
    }),
    ...Object.fromEntries(
      configured.map(({ name }) => [name, configured.filter((one) => one.name === name).map(({ value }) => value)]),
    ),
  };
}

/** Returns the headers that every attempt has, as `$request` shows them. */
export function shownHeaders(
  notification: Notification,
  settings: WebhookSettings,
): readonly { readonly name: string; readonly value: string }[] {
  const shown = shownValues(notification.id);
  const headers = webhookHeaders(notification, settings, { timestampSeconds: 0, traceparent: undefined });
  return Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value: shown[name] === value ? value : MASK })),
  );
}
