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

interface Header {
  readonly value: string | string[];
  /** Without it `$request` masks the value: it is configured, or changes with the attempt. */
  readonly isShown?: true;
}

export function webhookHeaders(
  notification: Notification,
  settings: WebhookSettings,
  attempt: AttemptHeaders,
): WebhookHeaders {
  const headers = [...headersByName(notification, settings, attempt)];
  return Object.fromEntries(headers.map(([name, { value }]) => [name, value]));
}

/** The headers of every attempt. */
export function shownHeaders(
  notification: Notification,
  settings: WebhookSettings,
): readonly { readonly name: string; readonly value: string }[] {
  const headers = [...headersByName(notification, settings, { timestampSeconds: 0, traceparent: undefined })];
  return headers.flatMap(([name, { value: values, isShown }]) =>
    [values].flat().map((value) => ({ name, value: isShown === true ? value : MASK })),
  );
}

/** A configured header replaces the server's header of the same name, and may itself be repeated. */
function headersByName(
  { id, body }: Notification,
  { headers, secrets }: WebhookSettings,
  { timestampSeconds, traceparent }: AttemptHeaders,
): ReadonlyMap<string, Header> {
  const all = new Map<string, Header>([
    ['content-type', { value: 'application/json', isShown: true }],
    ['accept', { value: '*/*', isShown: true }],
    ['accept-encoding', { value: 'identity', isShown: true }],
    ['user-agent', { value: 'svc-health-server', isShown: true }],
    ['webhook-id', { value: id, isShown: true }],
  ]);
  if (traceparent !== undefined) all.set('traceparent', { value: traceparent });
  if (secrets.length > 0) {
    all.set('webhook-timestamp', { value: String(timestampSeconds) });
    all.set('webhook-signature', { value: webhookSignature(secrets, { id, body, timestampSeconds }) });
  }
  for (const name of new Set(headers.map((header) => header.name.toLowerCase())))
    all.set(name, { value: headers.filter((header) => header.name.toLowerCase() === name).map(({ value }) => value) });
  return all;
}
