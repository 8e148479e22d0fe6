import { type Migration } from '../migration';

/** The reasons of denied requests, kept for a limited time (ADR 0021). */
export const createAccessDenials: Migration = {
  name: 'CreateAccessDenials1795000000007',
  statements: [
    `
      create table access_denial (
        denial_number bigint generated always as identity constraint access_denial_pk primary key,
        denied_at timestamptz not null default clock_timestamp(),
        id uuid not null constraint access_denial_id_key unique,
        body text not null
      )`,
  ],
};
