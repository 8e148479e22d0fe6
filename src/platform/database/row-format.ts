/**
 * The format of the rows that this server writes. It is raised with a migration of {@link refuseFormatsBelow} when
 * older servers must not write rows any more. Each connection announces it as the setting `svc.row_format`; servers of
 * 0.1.0 announce nothing (ADR 0052).
 */
export const ROW_FORMAT = 1;

/** The constraint name in the error of a refused write. */
export const ROW_FORMAT_CONSTRAINT = 'row_format';

/**
 * Returns statements for a migration. After its commit, servers that announce a format below `least` cannot write
 * resources. The creation of the trigger waits for writes that have already begun. The error has the code 55P03, for
 * which a server of 0.1.0 sends 503. Other programs, such as psql, are not refused. Released migrations contain this
 * text, so it never changes.
 */
export const refuseFormatsBelow = (least: number): string[] => [
  `create or replace function refuse_row_format() returns trigger language plpgsql as $$
    begin
      raise exception 'the server is older than its database' using errcode = '55P03', constraint = '${ROW_FORMAT_CONSTRAINT}';
    end $$`,
  `create or replace trigger resource_row_format before insert or update or delete on resource for each statement
    when (coalesce(
      nullif(current_setting('svc.row_format', true), '')::integer < ${least},
      current_setting('application_name') = 'svc-health-server'
    ))
    execute function refuse_row_format()`,
];
