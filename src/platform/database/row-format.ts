/**
 * Rows of a release that older servers must not write any more: raised together with a migration of {@link
 * refuseFormatsBelow}. Each connection announces it as the setting `svc.row_format`; servers of 0.1.0 announce nothing
 * (ADR 0052).
 */
export const ROW_FORMAT = 1;

/** Named by the error of a refused write. */
export const ROW_FORMAT_CONSTRAINT = 'row_format';

/**
 * Statements of a migration: from its commit on, servers that announce a format below `least` write no resource. The
 * lock of the trigger waits for writes that have begun. 55P03 is a code that 0.1.0 answers with 503. Programs other
 * than the server, such as psql, are not refused. Released migrations hold this text, so it is never changed.
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
