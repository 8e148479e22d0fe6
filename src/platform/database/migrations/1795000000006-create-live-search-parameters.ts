import { type Migration } from '../migration';

/**
 * Every statement that writes search index rows calls this function. It fails unless the writer knows the stored search
 * parameters of its snapshot. If the writer's own transaction changed these parameters, the writer may know the version
 * before, since the index of a changed parameter is built only after the commit.
 */
const createAssertion = `
    create function assert_search_parameters(known bigint) returns integer language plpgsql stable as $$
    begin
      perform from search_parameter_version
        where version = known or xmin = pg_current_xact_id_if_assigned()::xid;
      if not found then
        raise exception 'the search parameters changed' using errcode = '40001', constraint = 'search_parameter_version';
      end if;
      return 0;
    end $$`;

/** The search parameters that stored SearchParameters add to the index, with the progress of each index (ADR 0019). */
export const createLiveSearchParameters: Migration = {
  name: 'CreateLiveSearchParameters1795000000006',
  statements: [
    `
      create table live_search_parameter (
        parameter_key bigint generated always as identity constraint live_search_parameter_pk primary key,
        done_count bigint not null default 0,
        total_count bigint not null default 0,
        next_step_at timestamptz not null default clock_timestamp(),
        started_at timestamptz,
        finished_at timestamptz,
        state text not null constraint live_search_parameter_state_check check (state in ('building', 'active', 'removing')),
        definition_id text not null,
        resource_type text not null,
        code text not null,
        kind text not null,
        expression text not null,
        last_id text not null default '',
        targets text[] not null,
        components jsonb not null,
        writers text[]
      )`,
    `
      create unique index live_search_parameter_code_idx on live_search_parameter (resource_type, code)
      where state <> 'removing'`,
    `
      create table search_parameter_version (
        version bigint not null,
        is_only boolean constraint search_parameter_version_pk primary key default true check (is_only)
      )`,
    'insert into search_parameter_version (version) values (1)',
    createAssertion,
  ],
};
