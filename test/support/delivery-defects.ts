import { Client } from 'pg';
import { type DeliveryBed, type DeliveringServer } from './delivery-bed';
import { arrivalsAt } from './arrivals';
import { type CodeChange } from './changed-code';
import { eventually } from '../../testing/eventually';
import { WebhookReceiver } from '../../testing/webhook-receiver';

/** The initial state of a scenario: a server, and a destination that has received nothing yet. */
export interface Stage {
  readonly bed: DeliveryBed;
  readonly server: DeliveringServer;
  /** Starts another server of the same build. */
  readonly startAnother: () => Promise<DeliveringServer>;
  /** How long to wait for expected events. */
  readonly patienceMilliseconds: number;
  /** How long to wait for events that must not happen. */
  readonly silenceMilliseconds: number;
}

/** A defect that is inserted into a server's code when it is loaded, and the scenario that must detect it. */
export interface Defect extends CodeChange {
  readonly name: string;
  readonly scenario: (stage: Stage) => Promise<void>;
  /** The failure that the scenario must have. Default: any. */
  readonly noticedBy?: RegExp;
  /** Timeout of the destination. Default: the server's. */
  readonly timeoutSeconds?: number;
}

function assert(isRight: boolean, message: string): void {
  if (!isRight) throw new Error(message);
}

async function allDelivered({ bed, server, patienceMilliseconds }: Stage, count: number): Promise<void> {
  const arrived = async (): Promise<boolean> => {
    const { counts } = await server.status();
    return (
      arrivalsAt(bed.receiver).seen.length >= count && counts.messagesQueued === 0 && counts.messagesInProcess === 0
    );
  };
  await eventually(`${count} events are delivered`, arrived, patienceMilliseconds);
  const { counts } = await server.status();
  assert(counts.messagesDelivered === count, `${counts.messagesDelivered ?? '?'} are counted of ${count}`);
  const { faults } = arrivalsAt(bed.receiver);
  assert(faults.length === 0, faults.join(', '));
}

async function assertCounted(server: DeliveringServer, batches: number, failures: number): Promise<void> {
  const { messageBatchesDelivered, messageBatchesDeliveryAttempts } = (await server.status()).counts;
  const counted = `${messageBatchesDelivered ?? '?'} batches and ${messageBatchesDeliveryAttempts ?? '?'} failures`;
  const isRight = messageBatchesDelivered === batches && messageBatchesDeliveryAttempts === failures;
  assert(isRight, `${counted} are counted of ${batches} and ${failures}`);
}

const arrivals = ({ bed, patienceMilliseconds }: Stage, count: number): Promise<unknown> =>
  eventually(`${count} requests came`, () => bed.receiver.requests.length >= count, patienceMilliseconds);

/** Scenario: one write causes one notification, which is counted once. */
async function plain(stage: Stage): Promise<void> {
  await stage.server.putPatient('p');
  await allDelivered(stage, 1);
  await stage.server.putPatient('p');
  await allDelivered(stage, 2);
  assert(stage.bed.receiver.requests.length === 2, 'a batch came again');
}

/** Scenario: one transaction takes a number; another takes a later number and commits first. */
async function lateCommit(stage: Stage): Promise<void> {
  const { bed, server } = stage;
  const slow = new Client({ connectionString: bed.database.url });
  await slow.connect();
  try {
    await server.putPatient('seen');
    await allDelivered(stage, 1);
    await slow.query('begin');
    await slow.query(`insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
      select destination_key, 1, 1, 'Patient', 'seen', 'update', 'PUT' from destination_runtime`);
    await server.putPatient('quick');
    await allDelivered(stage, 2);
    await slow.query('commit');
    await allDelivered(stage, 3);
  } finally {
    await slow.end();
  }
}

const SKIP_NUMBERS = "select count(nextval('outbox_event_id')) from generate_series(1, 1500)";

/**
 * Scenario: a writer takes a number and does not commit, while thousands of later numbers are issued. A mark with the
 * defect would rise.
 */
async function loneSlowWriter(stage: Stage): Promise<void> {
  const { bed, server, patienceMilliseconds, silenceMilliseconds } = stage;
  const slow = new Client({ connectionString: bed.database.url });
  const isNoted = async (): Promise<boolean> => {
    const [mark] = await bed.query('select noted_event_id = last_value as is_noted from outbox_mark, outbox_event_id');
    return mark?.is_noted === true;
  };
  await slow.connect();
  try {
    await server.putPatient('lone');
    await allDelivered(stage, 1);
    await slow.query('begin');
    await slow.query(`insert into outbox_event (destination_key, payload_bytes, version, resource_type, resource_id, interaction, method)
      select destination_key, 1, 1, 'Patient', 'lone', 'update', 'PUT' from destination_runtime`);
    await slow.query(SKIP_NUMBERS);
    await eventually('the largest number is noted', isNoted, patienceMilliseconds);
    await bed.query(SKIP_NUMBERS);
    // Without the defect, the server notes no other number while the writer is open. So this waits for some polls only.
    await eventually('a larger number is noted', isNoted, silenceMilliseconds).catch(() => undefined);
    await server.putPatient('quick');
    await allDelivered(stage, 2);
    await slow.query('commit');
    await allDelivered(stage, 3);
  } finally {
    await slow.end();
  }
}

/** Scenario: versions of one resource are written through several connections, while the receiver accepts nothing. */
async function manyVersions(stage: Stage): Promise<void> {
  const { bed, server } = stage;
  bed.receiver.next({ kind: 'held' });
  await server.putPatient('p');
  await arrivals(stage, 1);
  for (let round = 1; round <= 8; round++) {
    await Promise.all([server.putPatient('p'), server.putPatient(`other${round}`)]);
  }
  bed.receiver.release();
  await allDelivered(stage, 17);
}

/** Scenario: the receiver hangs while two servers look for work repeatedly. */
async function hanging(stage: Stage): Promise<void> {
  const { bed, server, startAnother } = stage;
  bed.receiver.next({ kind: 'held' }, { kind: 'held' });
  await server.putPatient('p');
  await arrivals(stage, 1);
  await server.putPatient('q');
  await startAnother();
  // The absence of a request cannot be observed, so this waits for some polls.
  const secondCame = (): boolean => bed.receiver.requests.length > 1;
  await eventually('a second request came', secondCame, stage.silenceMilliseconds).catch(() => undefined);
  // Both requests must still be open: a second request after the first ended is no defect.
  const sent = bed.receiver.requests.length;
  bed.receiver.always({ kind: 'answer', status: 200 });
  bed.receiver.release();
  assert(sent === 1, `${sent} requests while the first one hung`);
  await allDelivered(stage, 2);
}

/** Scenario: the server dies during an attempt. */
async function killed(stage: Stage): Promise<void> {
  const { bed, server, startAnother } = stage;
  bed.receiver.next({ kind: 'hang' });
  await server.putPatient('p');
  await arrivals(stage, 1);
  await server.kill('SIGKILL');
  const successor = await startAnother();
  await arrivals(stage, 2);
  await allDelivered({ ...stage, server: successor }, 1);
  const { counts } = await successor.status();
  assert(counts.messagesDeliveryAttempts === 1, `${counts.messagesDeliveryAttempts ?? '?'} failures are counted of 1`);
}

/** Scenario: a server is frozen until another one has taken over. It continues while the other sends the next batch. */
async function frozen(stage: Stage): Promise<void> {
  const { bed, server, startAnother } = stage;
  bed.receiver.next({ kind: 'held' });
  await server.putPatient('p');
  await arrivals(stage, 1);
  const other = await startAnother();
  process.kill(server.pid, 'SIGSTOP');
  await bed.query('update destination_runtime set lease_until = clock_timestamp()');
  await arrivals(stage, 2);
  await allDelivered({ ...stage, server: other }, 1);
  await assertCounted(other, 1, 1); // the frozen attempt has failed, and is no second delivery
  bed.receiver.next({ kind: 'held', status: 503 });
  await other.putPatient('p');
  await arrivals(stage, 3);
  bed.receiver.release(1);
  process.kill(server.pid, 'SIGCONT');
  await eventually(
    'the late result is discarded',
    () => server.output.includes('was discarded'),
    stage.patienceMilliseconds,
  );
  bed.receiver.release();
  await arrivals(stage, 4);
  await allDelivered({ ...stage, server: other }, 2);
  await assertCounted(other, 2, 2);
}

/** Scenario: the receiver refuses the first attempt. */
async function refused(stage: Stage): Promise<void> {
  stage.bed.receiver.next({ kind: 'answer', status: 503 });
  await stage.server.putPatient('p');
  await arrivals(stage, 2);
  await allDelivered(stage, 1);
}

/** Scenario: the receiver answers with a redirect to another server. */
async function redirected(stage: Stage): Promise<void> {
  const trap = await WebhookReceiver.start();
  try {
    stage.bed.receiver.next({ kind: 'answer', status: 307, headers: { Location: trap.url } });
    await stage.server.putPatient('p');
    await eventually('something came of it', async () => {
      const { counts } = await stage.server.status();
      return counts.messagesDeliveryAttempts === 1 || trap.requests.length > 0;
    });
    assert(trap.requests.length === 0, 'the redirect was followed');
    await allDelivered(stage, 1);
  } finally {
    await trap.stop();
  }
}

/** Scenario: the response head arrives byte by byte without end. The destination has a timeout of one second. */
async function dripping(stage: Stage): Promise<void> {
  stage.bed.receiver.next({ kind: 'drip' });
  await stage.server.putPatient('p');
  await allDelivered(stage, 1);
}

/** Scenario: the receiver closes an idle connection just when it is used again. */
async function closedWhileIdle(stage: Stage): Promise<void> {
  await stage.server.putPatient('p');
  await allDelivered(stage, 1);
  stage.bed.receiver.next({ kind: 'reset' });
  await stage.server.putPatient('p');
  await allDelivered(stage, 2);
  const { counts } = await stage.server.status();
  assert(counts.messagesDeliveryAttempts === 0, 'the race was counted as a failure');
}

export const DEFECTS: readonly Defect[] = [
  {
    name: 'events are claimed by a cursor instead of their state',
    file: 'delivery/delivery-statements.js',
    from: 'event_id > (select low_water_mark from owner)',
    to: 'event_id > (select coalesce(max(id), 0) from delivery_attempt a, unnest(a.event_ids) id where a.destination_key = $1)',
    scenario: lateCommit,
  },
  {
    name: 'the low-water mark is raised by numbers only',
    file: 'delivery/delivery-statements.js',
    from: 'select raise_outbox_mark()',
    to: 'update outbox_mark set decided_event_id = noted_event_id, noted_event_id = last_value from (select last_value from outbox_event_id offset 0) issued where noted_event_id + 1000 <= last_value',
    scenario: loneSlowWriter,
    noticedBy: /3 events are delivered/,
  },
  {
    name: 'the latest event is claimed first',
    file: 'delivery/delivery-statements.js',
    from: 'order by event_id limit least($4::integer',
    to: 'order by recorded_at desc limit least($4::integer',
    scenario: manyVersions,
  },
  {
    name: 'workers take no lease',
    file: 'delivery/delivery-statements.js',
    from: 'and (r.owner_slot is null or',
    to: 'and (true or r.owner_slot is null or',
    scenario: hanging,
  },
  {
    name: 'settling ignores the epoch of the lease',
    file: 'delivery/delivery-statements.js',
    from: '${IS_CLAIMED} and r.destination_key = $1 and r.epoch = $2 and r.owner_slot = $3',
    to: '${IS_OPEN} and r.destination_key = $1 and $2::bigint > 0 and $3::integer > 0',
    scenario: frozen,
    timeoutSeconds: 300, // longer than a busy machine needs to start the other server during the attempt
  },
  {
    name: 'a batch is settled before it is sent',
    file: 'delivery/delivery-worker.js',
    from: 'const sending = this.sender.send(',
    to: "await this.queue.settle(batch, { durationMilliseconds: 1, outcome: '' }, false); const sending = this.sender.send(",
    scenario: killed,
  },
  {
    name: 'a settled batch is not counted',
    file: 'delivery/delivery-statements.js',
    from: 'delivered_events = r.delivered_events + cardinality(b.event_ids)',
    to: 'delivered_events = r.delivered_events',
    scenario: plain,
  },
  {
    name: 'lost attempts are not counted',
    file: 'delivery/delivery-queue.js',
    from: 'if (claim.isOrphaned)',
    to: 'if (false)',
    scenario: killed,
  },
  {
    name: 'each attempt sends other bytes',
    file: 'topic-destination/events/notification-bundle.js',
    from: 'batch.createdAt.toISOString()',
    to: 'new Date().toISOString()',
    scenario: refused,
  },
  {
    name: 'a refused batch is skipped',
    file: 'delivery/delivery-worker.js',
    from: 'this.queue.fail(attempt.batch, result, pauseMilliseconds)',
    to: 'this.queue.settle(attempt.batch, result, false)',
    scenario: refused,
  },
  {
    name: 'a redirect counts as delivered',
    file: 'delivery/webhook/webhook-sender.js',
    from: 'status <= 299',
    to: 'status <= 399',
    scenario: redirected,
  },
  {
    name: 'the whole exchange has no deadline',
    file: 'delivery/outgoing-batch.js',
    from: '}, milliseconds);',
    to: '}, 3_600_000);',
    scenario: dripping,
    timeoutSeconds: 1,
  },
  {
    name: 'closed idle connections count as failures',
    file: 'delivery/webhook/webhook-sender.js',
    from: 'if (!isRepeated && ',
    to: 'if (false && ',
    scenario: closedWhileIdle,
  },
];
