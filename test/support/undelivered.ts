import { type Client } from 'pg';

export interface UndeliveredEvent {
  readonly id: string;
  readonly version: number;
  readonly interaction: string;
  readonly method: string;
}

/** The events that are queued or being delivered, in the order of their capture. */
export async function undeliveredEvents(database: Client): Promise<UndeliveredEvent[]> {
  const { rows } = await database.query<UndeliveredEvent>(
    `select resource_id as id, version, interaction, method from (
        select event_id, resource_id, version, interaction, method from outbox_event
        union all select e.* from open_batch b
          cross join unnest(b.event_ids, b.resource_ids, b.versions, b.interactions, b.methods) as e
      ) waiting order by event_id`,
  );
  return rows;
}
