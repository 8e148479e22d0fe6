import { MASK, type Notification, type ShownRequest } from '../delivery-kind';
import { type WebhookSettings } from './webhook-settings';
import { webhookSignature } from './webhook-signature';

/** Headers by name in lower case. A header with several values is sent several times. */
export type WebhookHeaders = Record<string, string | string[]>;

/** Returns the headers whose values `$request` shows. All others are configured, or change with each attempt. */
const shownValues = (id: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  accept: '*/*',
  'accept-encoding': 'identity',
  'user-agent': 'svc-health-server',
  'webhook-id': id,
});

/** Returns the headers of an attempt. Configured headers replace the server's header of the same name. */
export function webhookHeaders(
  { id, body }: Notification,
  { headers, secrets }: WebhookSettings,
  timestampSeconds: number,
  traceparent?: string,
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
export function shownHeaders(notification: Notification, settings: WebhookSettings): ShownRequest['headers'] {
  const shown = shownValues(notification.id);
  return Object.entries(webhookHeaders(notification, settings, 0)).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value: shown[name] === value ? value : MASK })),
  );
}
