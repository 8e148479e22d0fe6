/** The kinds of addenda that have their own methods (interface, "SDCAddendum"). */
export const NOTE = 'svc.sdc.addendum/Note';
export const COMMENT = 'svc.sdc.addendum/Comment';
export const HISTORY = 'svc.sdc.addendum/History';
export const AMENDMENT = 'svc.sdc.addendum/Amendment';

/** Only letters are compared, in lower case: spaces, signs and digits between them do not make another type. */
const RESERVED = /svcsdcaddendum|^(?:history|amendment)$/;

/**
 * Why `create-addendum` does not take a type; undefined when it does. The namespace `svc.sdc.addendum` is the service's, so that
 * no reader takes an addendum of a caller for a History or Amendment. Types are ASCII: other scripts have letters that look like
 * these, and characters that cannot be seen.
 */
export function faultOfCreatedType(type: string): string | undefined {
  if (type === NOTE || type === COMMENT) return undefined;
  if (type === HISTORY || type === AMENDMENT) return 'is written by a method of its own';
  if (!/^[\x20-\x7e]+$/.test(type)) return 'must be printable ASCII';
  if (!RESERVED.test(type.toLowerCase().replace(/[^a-z]/g, ''))) return undefined;
  return 'is reserved for the service. Use a prefix of your own, such as "acme.sdc.addendum/Handover"';
}

/** The statuses in which a document or workflow is signed (interface, "Addendum RPC", rules 2 and 3). */
export const isFinal = (status: unknown): boolean => status === 'completed' || status === 'amended';
