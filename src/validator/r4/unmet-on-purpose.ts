import { isObject } from '../../platform/json/plain-object';

/**
 * The reason why a resource violates an invariant on purpose; undefined if it does not. Then a warning is reported: an
 * error would refuse this server's own messages, and silence would suggest conformance to R4.
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
