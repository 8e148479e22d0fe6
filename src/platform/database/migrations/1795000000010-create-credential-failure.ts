import { type Migration } from '../migration';

/** Counts of failed credentials, by a keyed hash of account and address, so that the table contains no names. */
export const createCredentialFailure: Migration = {
  name: 'CreateCredentialFailure1795000000010',
  statements: [
    // Rows live for minutes, and each try updates one. With free space on its page, an update need not change the
    // indexes.
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
