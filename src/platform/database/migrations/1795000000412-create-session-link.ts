import { type Migration } from '../migration';

/** Links that open one page once, for a minute. Unlogged: a link that a crash of PostgreSQL takes is asked for again. */
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
