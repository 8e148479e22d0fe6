import { Agent, request } from 'node:http';
import { type Pool } from 'pg';

const BATCH_SIZE = 20;
const agent = new Agent({ keepAlive: true });

/** The SQL that leases the destination and reads its oldest events with their resource versions. */
const CLAIM = `with claimed as (
    update destination_runtime set epoch = epoch + 1, owner_slot = 1, lease_until = clock_timestamp() + interval '45 s'
    where destination_key = $1 and owner_slot is null returning destination_key
  )
  select e.event_id, r.body from claimed
  cross join lateral (select * from outbox_event o where o.destination_key = $1 order by o.event_id limit $2) e
  join resource r on r.type = e.resource_type and r.id = e.resource_id
  order by e.event_id`;

const SETTLE = `with settled as (
    update destination_runtime set owner_slot = null, lease_until = null, delivered_batches = delivered_batches + 1
    where destination_key = $1
  )
  delete from outbox_event where destination_key = $1 and event_id = any($2)`;

/** Delivers all queues to `endpoint`, one loop per destination. */
export async function deliverAll(pool: Pool, endpoint: string): Promise<void> {
  const { rows } = await pool.query<{ destination_key: number }>('select distinct destination_key from outbox_event');
  await Promise.all(rows.map(({ destination_key: key }) => deliver(pool, key, endpoint)));
}

async function deliver(pool: Pool, destinationKey: number, endpoint: string): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ event_id: string; body: string }>({
      name: 'baseline-claim',
      text: CLAIM,
      values: [destinationKey, BATCH_SIZE],
    });
    if (rows.length > 0) {
      const entries = rows.map(({ body }) => `{"resource":${body}}`);
      await post(endpoint, `{"resourceType":"Bundle","type":"history","entry":[${entries.join(',')}]}`);
    }
    const eventIds = rows.map(({ event_id: id }) => id);
    await pool.query({ name: 'baseline-settle', text: SETTLE, values: [destinationKey, eventIds] });
    if (rows.length === 0) return;
  }
}

function post(endpoint: string, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    request(endpoint, { method: 'POST', headers, agent }, (response) => {
      response
        .on('end', () => {
          resolve();
        })
        .resume();
    })
      .on('error', reject)
      .end(body);
  });
}
