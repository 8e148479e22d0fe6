import { arrivalsAt } from '../support/arrivals';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryBed, type DeliveringServer } from '../support/delivery-bed';
import { eventually } from '../../testing/eventually';
import { SteadyWriters } from '../support/steady-writers';
import { type WebhookReceiver } from '../../testing/webhook-receiver';

const DESTINATIONS = ['d1', 'd2', 'd3'];
/** Requests that each destination receives between two restarts. */
const REQUESTS_BETWEEN = 10;

let bed: DeliveryBed;
/** One receiver for each destination. */
let receivers: readonly WebhookReceiver[];

beforeAll(async () => {
  // An idle worker polls ten times a second, so a missing lease becomes visible.
  bed = await DeliveryBed.open();
  receivers = await Promise.all(DESTINATIONS.map(() => bed.startReceiver()));
  for (const receiver of receivers) receiver.always({ kind: 'slow', milliseconds: 10 });
});
afterAll(() => bed.close());

async function someArrive(): Promise<void> {
  const before = receivers.map(({ requests }) => requests.length);
  await eventually('each destination gets some more', () =>
    receivers.every(({ requests }, index) => requests.length >= (before[index] ?? 0) + REQUESTS_BETWEEN),
  );
}

async function allIsDelivered(server: DeliveringServer): Promise<void> {
  await eventually('everything is delivered', async () => {
    const all = await Promise.all(DESTINATIONS.map((id) => server.status(id)));
    return all.every(({ counts }) => counts.messagesQueued === 0 && counts.messagesInProcess === 0);
  });
}

describe('Servers on one database (F10)', () => {
  let servers: readonly DeliveringServer[];
  let writers: SteadyWriters;

  async function end(old: DeliveringServer): Promise<void> {
    await someArrive();
    servers = servers.filter((server) => server !== old); // like a load balancer, which removes a server first
    await old.kill('SIGTERM');
  }

  it('accept every write while two are replaced, three added and two removed', async () => {
    const first = await bed.start();
    for (const [index, id] of DESTINATIONS.entries()) {
      await first.makeDestination({ id, url: receivers[index]?.url ?? '' });
    }
    servers = [first, await bed.start()];
    let turn = 0;
    writers = new SteadyWriters(() => servers[turn++ % servers.length] ?? first);
    for (const old of servers) {
      await end(old);
      servers = [...servers, await bed.start()];
    }
    servers = [...servers, ...(await Promise.all([bed.start(), bed.start(), bed.start()]))];
    for (const old of servers.slice(0, 2)) await end(old);
    await someArrive();
    await writers.stop();
    expect(writers.refused).toBe(0);
  });

  it('send each batch once and in order, one at a time per destination, and count right', async () => {
    const [server] = servers;
    if (server === undefined) throw new Error('No server is left');
    await allIsDelivered(server);
    const committed = await bed.committed();
    expect([...writers.acknowledged].filter((key) => !committed.has(key))).toEqual([]);
    for (const [index, id] of DESTINATIONS.entries()) {
      const receiver = receivers[index];
      if (receiver === undefined) throw new Error('A receiver is missing');
      const { keys, faults, repeated, batches } = arrivalsAt(receiver);
      expect(new Set(keys)).toEqual(committed);
      const { mostAtOnce } = receiver;
      expect({ faults, repeated, mostAtOnce }).toEqual({ faults: [], repeated: 0, mostAtOnce: 1 });
      expect((await server.status(id)).counts).toEqual({
        messageBatchesDelivered: batches,
        messageBatchesDeliveryAttempts: 0,
        messagesDelivered: committed.size,
        messagesDeliveryAttempts: 0,
        messagesInProcess: 0,
        messagesQueued: 0,
      });
    }
  });
});
