import { type Migration } from '../migration';

/** Secrets and tokens, in tables separate from the resources: no stored body ever contains them. */
export const createCredentials: Migration = {
  name: 'CreateCredentials1795000000001',
  statements: [
    `
      create table session_token (
        token_hash bytea constraint session_token_pk primary key,
        expires_at timestamptz,
        -- When its Session is over: the token's own end, or that of the refresh token; null where that has none.
        ends_at timestamptz,
        closed_at timestamptz,
        -- Of a token that a refresh token was exchanged for: whether nobody used it yet.
        is_unused boolean not null default false,
        session_id text not null,
        user_id text,
        client_id text not null,
        -- The key that signed it, which is published as long as such tokens live.
        kid text
      )`,
    'create index session_token_session_idx on session_token (session_id)',
    'create index session_token_end_idx on session_token (ends_at) where closed_at is null',
    'create index session_token_closed_idx on session_token (closed_at) where closed_at is not null',
    'create index session_token_user_idx on session_token (user_id) where closed_at is null',
    'create index session_token_client_idx on session_token (client_id) where closed_at is null',
    `
      create table refresh_token (
        token_hash bytea constraint refresh_token_pk primary key,
        expires_at timestamptz,
        consumed_at timestamptz,
        family_id uuid not null,
        session_id text not null,
        -- The Session of the tokens that it was exchanged for.
        successor_session_id text,
        user_id text,
        client_id text not null,
        -- The grant that the family began with, whose settings hold, and what was granted.
        grant_type text not null,
        scope text,
        audience text
      )`,
    'create index refresh_token_session_idx on refresh_token (session_id)',
    'create index refresh_token_family_idx on refresh_token (family_id)',
    'create table client_secret (client_id text constraint client_secret_pk primary key, secret_hash bytea not null)',
    // A new password gets a new id. Hashing the same password again keeps the id.
    `
      create table user_password (
        user_id text constraint user_password_pk primary key,
        password_id uuid not null,
        password_hash text not null
      )`,
    'create table user_two_factor (user_id text constraint user_two_factor_pk primary key, sealed_key bytea not null, last_step integer)',
    `
      create table user_login (
        kind text not null check (kind in ('userName', 'email')),
        login text not null,
        user_id text not null,
        constraint user_login_pk primary key (kind, login, user_id)
      )`,
    `create unique index user_login_user_name_idx on user_login (login) where kind = 'userName'`,
    'create index user_login_user_idx on user_login (user_id)',
    `
      create table signing_key (
        created_at timestamptz not null default now(),
        signs_from timestamptz not null,
        kid text constraint signing_key_pk primary key,
        algorithm text not null,
        public_key text not null,
        wrapped_private_key bytea not null
      )`,
    // Records setup work that runs only once, such as creating the trial policy. So a resource that an operator deleted
    // is not created again.
    `
      create table server_setup (
        done_at timestamptz not null default now(),
        name text constraint server_setup_pk primary key,
        digest text
      )`,
  ],
};
