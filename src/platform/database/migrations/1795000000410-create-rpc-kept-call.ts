import { type Migration } from '../migration';

/** Calls of `/rpc` with an `Idempotency-Key`, and the results that repeats of these calls get (ADR 0061). */
export const createRpcKeptCall: Migration = {
  name: 'CreateRpcKeptCall1795000000410',
  statements: [
    `
      create table rpc_kept_call (
        call_hash bytea constraint rpc_kept_call_pk primary key,
        expires_at timestamptz not null,
        digest bytea not null,
        caller text not null,
        kept text
      )`,
    'create index rpc_kept_call_caller_idx on rpc_kept_call (caller, expires_at)',
    'create index rpc_kept_call_expires_at_idx on rpc_kept_call (expires_at)',
  ],
};
