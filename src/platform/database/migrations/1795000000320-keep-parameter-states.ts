import { type Migration } from '../migration';

/**
 * A table with the state of every search parameter, including those of HL7 and of modules (ADR 0051). A parameter
 * without a digest counts as changed. So the next start builds all index rows again, which also removes the rows of
 * parameters that were being removed.
 */
export const keepParameterStates: Migration = {
  name: 'KeepParameterStates1795000000320',
  statements: [
    `
      create table search_parameter_state (
        parameter_key bigint generated always as identity constraint search_parameter_state_pk primary key,
        done_count bigint not null default 0,
        total_count bigint not null default 0,
        next_step_at timestamptz not null default clock_timestamp(),
        started_at timestamptz,
        finished_at timestamptz,
        presence_bit smallint constraint search_parameter_state_bit_check check (presence_bit between 0 and 62),
        state text not null constraint search_parameter_state_check check (state in ('building', 'active', 'removing')),
        resource_type text not null,
        code text not null,
        digest text,
        definition_id text,
        kind text,
        expression text,
        last_id text not null default '',
        targets text[],
        components jsonb,
        writers text[]
      )`,
    `
      create unique index search_parameter_state_code_idx on search_parameter_state (resource_type, code)`,
    `
      create unique index search_parameter_state_bit_idx on search_parameter_state (resource_type, presence_bit)
      where presence_bit is not null`,
    `
      insert into search_parameter_state
        (state, definition_id, resource_type, code, kind, expression, targets, components)
      select 'building', definition_id, resource_type, code, kind, expression, targets, components
      from live_search_parameter where state <> 'removing' order by parameter_key`,
    'drop table live_search_parameter',
  ],
};
