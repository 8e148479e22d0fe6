import { once } from 'node:events';
import { Agent, type IncomingMessage, type Server, createServer, request } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryBed, type DeliveringServer } from '../support/delivery-bed';
import { eventually } from '../../testing/eventually';
import { ROOT } from '../../testing/test-app';

const DRAIN_SECONDS = 2;
const SHUTDOWN_SECONDS = 1;
const CLIENTS = 4;

let bed: DeliveryBed;

beforeAll(async () => {
  bed = await DeliveryBed.open({
    SVC_DRAIN_SECONDS: String(DRAIN_SECONDS),
    SVC_SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS),
  });
});
afterAll(() => bed.close());

/**
 * A proxy with HAProxy's relevant defaults: it polls `/health/ready`, keeps connections to the servers open, and never
 * repeats a request.
 */
class Proxy {
  private readonly upstreams = new Map<string, { isUp: boolean; readonly agent: Agent }>();
  private turn = 0;
  private readonly checks: NodeJS.Timeout;

  private constructor(private readonly server: Server) {
    server.on('request', (incoming, outgoing) => {
      const up = [...this.upstreams].filter(([, { isUp }]) => isUp);
      const [url, upstream] = up[this.turn++ % up.length] ?? [];
      if (url === undefined || upstream === undefined) {
        outgoing.writeHead(503).end();
        return;
      }
      const { method, headers, url: path = '' } = incoming;
      const onward = request(`${url}${path}`, { method, headers, agent: upstream.agent }, (answer) => {
        const { connection: _hop, ...kept } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, kept);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.writeHead(502).end());
      incoming.pipe(onward);
    });
    this.checks = setInterval(() => void this.check(), 200);
  }

  static async start(): Promise<Proxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Proxy(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  isUp(url: string): boolean {
    return this.upstreams.get(url)?.isUp === true;
  }

  add(url: string): void {
    this.upstreams.set(url, { isUp: false, agent: new Agent({ keepAlive: true }) });
  }

  stop(): void {
    clearInterval(this.checks);
    this.server.closeAllConnections();
    this.server.close();
    for (const { agent } of this.upstreams.values()) agent.destroy();
  }

  private async check(): Promise<void> {
    for (const [url, upstream] of this.upstreams) {
      const answer = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } }).catch(() => undefined);
      upstream.isUp = answer?.ok === true;
    }
  }
}

/** Writes and reads without a pause until it is stopped; any unsuccessful request is a failure. */
class Load {
  answered = 0;
  readonly failures: string[] = [];
  private isOver = false;
  private readonly clients: Promise<void>[];

  constructor(private readonly url: string) {
    this.clients = Array.from({ length: CLIENTS }, (_value, client) => this.run(`rolling-${client}`));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async run(id: string): Promise<void> {
    for (let count = 0; !this.isOver; count++) {
      await this.send('PUT', id, { resourceType: 'Patient', id, multipleBirthInteger: count });
      await this.send('GET', id);
    }
  }

  private async send(method: string, id: string, body?: object): Promise<void> {
    const headers = { Authorization: ROOT, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const outcome = await fetch(`${this.url}/fhir/Patient/${id}`, { method, headers, ...sent }).then(
      async (answer) => (await answer.text(), answer.ok ? undefined : String(answer.status)),
      (error: unknown) => String(error),
    );
    if (outcome === undefined) this.answered++;
    else this.failures.push(`${method} ${outcome}`);
  }
}

describe('A rolling restart', () => {
  it('O2: loses no request of two servers behind a proxy', async () => {
    const proxy = await Proxy.start();
    let servers: DeliveringServer[] = await Promise.all([bed.start(), bed.start()]);
    for (const { url } of servers) proxy.add(url);
    const allAreUp = (): Promise<boolean> =>
      eventually('the proxy sends to all', () => servers.every(({ url }) => proxy.isUp(url)));
    await allAreUp();
    const load = new Load(proxy.url);
    try {
      for (const old of servers) {
        const before = load.answered;
        await eventually('some requests are answered', () => load.answered > before + 20);
        const [fresh] = await Promise.all([bed.start(), old.kill('SIGTERM')]);
        servers = [...servers.filter((server) => server !== old), fresh];
        proxy.add(fresh.url);
        await allAreUp();
      }
    } finally {
      await load.stop();
      proxy.stop();
    }
    expect(load.failures).toEqual([]);
  }, 300_000);
});

describe('A server that stops', () => {
  let server: DeliveringServer;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  const get = async (path: string): Promise<IncomingMessage> => {
    const [answer] = (await once(request(`${server.url}${path}`, { agent }).end(), 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer;
  };
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const head = 'PUT /fhir/Patient/slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n';

  it('O2: fails readiness, then closes connections after their response, then idle ones, within its limit', async () => {
    server = await bed.start({ SVC_STREAM_STALL_SECONDS: '12' });
    const idle = await open();
    const stalled = await open();
    stalled.write(`${head}Authorization: ${ROOT}\r\n\r\n{`);
    const idleClosed = once(idle, 'close').then(() => performance.now());
    expect((await get('/health/ready')).statusCode).toBe(200);
    const stoppedAt = performance.now();
    const ended = server.kill('SIGTERM').then(() => performance.now());
    await eventually('readiness fails', async () => (await get('/health/ready')).statusCode === 503);
    const live = await get('/health/live');
    expect([live.statusCode, live.headers.connection]).toEqual([200, 'keep-alive']);
    let closing = live;
    while (closing.headers.connection !== 'close') {
      await delay(20);
      closing = await get('/health/live');
    }
    const closedAt = performance.now();
    expect(closedAt - stoppedAt).toBeGreaterThan(DRAIN_SECONDS * 1000 - 100);
    expect(await idleClosed).toBeGreaterThan(closedAt);
    // The limit adds one second in which clients disconnect, and the time that the process itself needs. Without a
    // limit, the stalled request would end after 12 s.
    expect((await ended) - stoppedAt).toBeLessThan((DRAIN_SECONDS + SHUTDOWN_SECONDS + 1) * 1000 + 7000);
    stalled.destroy();
    agent.destroy();
  });
});
