import { isObject } from '../../platform/json/plain-object';

/**
 * The reason why a resource does not meet an invariant on purpose; undefined if there is none. With a reason, a warning
 * is reported. An error would refuse messages that this server itself sends, and silence would suggest that they
 * conform to R4.
 */
export function reasonForLeavingUnmet(key: string, resource: unknown): string | undefined {
  if ((key !== 'bdl-3' && key !== 'bdl-4') || !isObject(resource) || resource.type !== 'history') return undefined;
  const [status, ...events] = (resource.entry as readonly unknown[] | undefined)?.filter(isObject) ?? [];
  if (!isObject(status?.resource) || status.resource.resourceType !== 'SvcSubscriptionStatus') return undefined;
  if (key === 'bdl-3' && status.request === undefined && events.every(({ request }) => request !== undefined))
    return 'In a notification of this server the status has no request.';
  if (key === 'bdl-4' && [status, ...events].every(({ response }) => response === undefined))
    return 'Entries of a notification of this server have no response.';
  return undefined;
}
