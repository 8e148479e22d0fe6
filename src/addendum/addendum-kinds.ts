/** The kinds of addenda that have a method of their own (interface, "SDCAddendum"). */
export const NOTE = 'svc.sdc.addendum/Note';
export const COMMENT = 'svc.sdc.addendum/Comment';
export const HISTORY = 'svc.sdc.addendum/History';
export const AMENDMENT = 'svc.sdc.addendum/Amendment';

/** The statuses in which a document or workflow is signed (interface, "Addendum RPC", rules 2 and 3). */
export const isFinal = (status: unknown): boolean => status === 'completed' || status === 'amended';
