/** The types of addenda that have their own methods (interface specification, "SDCAddendum"). */
export const NOTE = 'svc.sdc.addendum/Note';
export const COMMENT = 'svc.sdc.addendum/Comment';
export const HISTORY = 'svc.sdc.addendum/History';
export const AMENDMENT = 'svc.sdc.addendum/Amendment';

/** Reserved types, by their letters alone, so that spaces, signs and digits do not make a type different. */
const RESERVED = /svcsdcaddendum|^(?:history|amendment)$/;

/**
 * Returns why `create-addendum` refuses a type; undefined when the type is accepted. The namespace `svc.sdc.addendum`
 * is reserved, so that nobody mistakes a caller's addendum for a History or Amendment. Types must be ASCII, because
 * other scripts have look-alike letters and invisible characters.
 */
export function faultOfCreatedType(type: string): string | undefined {
  if (type === NOTE || type === COMMENT) return undefined;
  if (type === HISTORY || type === AMENDMENT) return 'is written by its own method';
  if (!/^[\x20-\x7e]+$/.test(type)) return 'must be printable ASCII';
  if (!RESERVED.test(type.toLowerCase().replace(/[^a-z]/g, ''))) return undefined;
  return 'is reserved for the service. Use a prefix of your own, such as "acme.sdc.addendum/Handover"';
}

/** The statuses of a signed document or workflow (interface specification, "Addendum RPC", rules 2 and 3). */
export const isFinal = (status: unknown): boolean => status === 'completed' || status === 'amended';
