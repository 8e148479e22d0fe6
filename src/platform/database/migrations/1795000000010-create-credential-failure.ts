import { type Migration } from '../migration';

/** Credentials that turned out wrong, by a keyed hash of account and address: the table names nobody. */
export const createCredentialFailure: Migration = {
  name: 'CreateCredentialFailure1795000000010',
  statements: [
    // Rows live for minutes and are updated by each try: room on the page keeps that from touching the indexes.
    `
      create table credential_failure (
        expires_at timestamptz not null,
        blocked_until timestamptz not null,
        failures integer not null,
        key bytea constraint credential_failure_pk primary key
      ) with (fillfactor = 50)`,
    'create index credential_failure_expires_idx on credential_failure (expires_at)',
  ],
};
