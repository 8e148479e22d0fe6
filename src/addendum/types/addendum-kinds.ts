/** The kinds of addenda that have their own methods (interface, "SDCAddendum"). */
export const NOTE = 'svc.sdc.addendum/Note';
export const COMMENT = 'svc.sdc.addendum/Comment';
export const HISTORY = 'svc.sdc.addendum/History';
export const AMENDMENT = 'svc.sdc.addendum/Amendment';

/** Compares lower-case letters only: spaces, signs and digits between them do not make another type. */
const RESERVED = /svcsdcaddendum|^(?:history|amendment)$/;

/**
 * Why `create-addendum` refuses a type; undefined when it accepts it. The namespace `svc.sdc.addendum` is reserved, so
 * that a caller's addendum cannot pass for a History or Amendment. Types are ASCII: other scripts have look-alike
 * letters and invisible characters.
 */
export function faultOfCreatedType(type: string): string | undefined {
  if (type === NOTE || type === COMMENT) return undefined;
  if (type === HISTORY || type === AMENDMENT) return 'is written by its own method';
  if (!/^[\x20-\x7e]+$/.test(type)) return 'must be printable ASCII';
  if (!RESERVED.test(type.toLowerCase().replace(/[^a-z]/g, ''))) return undefined;
  return 'is reserved for the service. Use a prefix of your own, such as "acme.sdc.addendum/Handover"';
}

/** The statuses of a signed document or workflow (interface, "Addendum RPC", rules 2 and 3). */
export const isFinal = (status: unknown): boolean => status === 'completed' || status === 'amended';
