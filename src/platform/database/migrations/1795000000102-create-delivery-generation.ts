import { type Migration } from '../migration';
import { SYSTEM_IDENTIFIER, TIMELINE } from '../cluster-identity';

/**
 * Makes a new generation if this is no longer the database of the last generation, or if a restore is declared. Returns
 * the reason; `stored` if no database was recorded before, null if nothing changed. The row is locked, so servers that
 * detect a change together make one generation.
 */
const createRenew = `
    create function renew_delivery_generation(is_declared boolean) returns text language plpgsql as $$
    declare
      cluster text := ${SYSTEM_IDENTIFIER};
      line text := ${TIMELINE};
      known delivery_generation;
      finding text;
    begin
      select * into known from delivery_generation
      where is_declared or (system_identifier, timeline) is distinct from (cluster, line) for update;
      if not found then return null; end if;
      finding := case when is_declared then 'declared' when known.system_identifier is null then 'stored'
        when known.system_identifier <> cluster then 'cluster' else 'timeline' end;
      update delivery_generation set system_identifier = cluster, timeline = line,
        generation = case when finding = 'stored' then generation else gen_random_uuid() end,
        is_held = is_held or finding in ('declared', 'cluster');
      if finding in ('declared', 'cluster') then
        -- Transaction ids, locks of workers, and a sequence that was not copied mean nothing here.
        update outbox_mark set decided_event_id = 0, noted_event_id = 0, noted_by = '0';
        update open_batch set low_water_mark = 0;
        update destination_runtime set low_water_mark = 0, owner_slot = null, lease_until = null, epoch = epoch + 1;
        perform setval('outbox_event_id', greatest(last_value, (select max(event_id) from outbox_event)), true)
          from outbox_event_id;
      end if;
      return finding;
    end
    $$`;

/**
 * The generation: it identifies the history of the database that notifications belong to. The row also says whether
 * delivery is held after a restore (ADR 0036).
 */
export const createDeliveryGeneration: Migration = {
  name: 'CreateDeliveryGeneration1795000000102',
  statements: [
    `
      create table delivery_generation (
        is_only boolean constraint delivery_generation_pk primary key default true check (is_only),
        is_held boolean not null default false,
        generation uuid not null default gen_random_uuid(),
        system_identifier text,
        timeline text
      )`,
    'insert into delivery_generation default values',
    createRenew,
  ],
};
