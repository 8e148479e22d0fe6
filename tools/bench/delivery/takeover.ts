import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ProgressBar } from '../../progress-bar';
import { type Cleanup } from '../cleanup';
import { LoadClient } from '../load-client';
import { destination, topic } from '../prepare-server';
import { type DeliveryBed, topicOf } from './delivery-bed';

const KILLS = 50;
const TYPE = 'List';
/** The default of SVC_DELIVERY_POLL_MILLISECONDS. */
const POLL_MILLISECONDS = 1000;
/** The longest wait for the end of a killed server's connection. The operating system closes it at once. */
const CLOSING_MILLISECONDS = 2000;
const PATIENCE_SECONDS = 60;

interface HeldAttempt {
  readonly at: number;
  readonly response: ServerResponse;
  readonly closed: Promise<unknown>;
}

/**
 * Repeatedly kills the server that sends, and measures the time until another server sends the batch. Returns
 * milliseconds, one value per kill.
 */
export async function measureTakeover(bed: DeliveryBed, cleanup: Cleanup): Promise<readonly number[]> {
  const receiver = await cleanup.undoing(HoldingReceiver.start(), (started) => started.stop());
  await bed.put(`SvcSubscriptionTopic/${TYPE}`, topic(topicOf(TYPE), TYPE));
  await bed.put('SvcTopicDestination/takeover', destination(topicOf(TYPE), receiver.url));
  const progress = new ProgressBar({ label: 'takeover'.padEnd(20), total: KILLS });
  const times: number[] = [];
  let [sending, other] = [bed.server, await bed.startServer()];
  while (times.length < KILLS) {
    // The other server polls once a second. A random wait lets the kill hit different phases between two polls.
    await delay(Math.random() * POLL_MILLISECONDS);
    await create({ ...bed, baseUrl: `${sending.url}/fhir` });
    const attempt = await receiver.next();
    const killedAt = performance.now();
    await sending.kill();
    const isLost = await Promise.race([attempt.closed.then(() => true), delay(CLOSING_MILLISECONDS, false)]);
    if (isLost) {
      const again = await receiver.next();
      times.push(again.at - killedAt);
      again.response.end();
      progress.advance();
    } else {
      // The connection stays open, so the batch came from the other server: it had polled just before the kill.
      attempt.response.end();
    }
    [sending, other] = [other, await bed.startServer()];
  }
  return times;
}

async function create(target: DeliveryBed): Promise<void> {
  const client = new LoadClient(target);
  const body = JSON.stringify({ resourceType: TYPE, status: 'current', mode: 'working' });
  const { status } = await client.send({ method: 'POST', path: `/${TYPE}`, body });
  client.close();
  if (status !== 201) throw new Error(`POST ${TYPE} was answered with ${status}`);
}

/** A webhook endpoint on the loopback that leaves the responses to the caller. */
class HoldingReceiver {
  private readonly attempts: HeldAttempt[] = [];

  private constructor(private readonly server = createServer()) {
    server.on('request', (request, response) => {
      request.resume();
      this.attempts.push({ at: performance.now(), response, closed: once(response, 'close') });
      server.emit('attempt');
    });
  }

  static async start(): Promise<HoldingReceiver> {
    const receiver = new HoldingReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /**
   * The first attempt that was not returned yet.
   * @throws Error when none arrives.
   */
  async next(): Promise<HeldAttempt> {
    const signal = AbortSignal.timeout(PATIENCE_SECONDS * 1000);
    for (;;) {
      const attempt = this.attempts.shift();
      if (attempt !== undefined) return attempt;
      await once(this.server, 'attempt', { signal });
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
