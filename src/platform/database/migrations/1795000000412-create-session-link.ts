import { type Migration } from '../migration';

/**
 * Links that open one page once, within a minute. The table is unlogged: if a crash of PostgreSQL deletes a link, the
 * caller requests a new one.
 */
export const createSessionLink: Migration = {
  name: 'CreateSessionLink1795000000412',
  statements: [
    `
      create unlogged table session_link (
        token_hash bytea constraint session_link_pk primary key,
        expires_at timestamptz not null,
        session_id text not null,
        target text not null
      )`,
    'create index session_link_session_idx on session_link (session_id, expires_at)',
    'create index session_link_expires_at_idx on session_link (expires_at)',
  ],
};
