import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const CLIENTS = 16;

/** Clients that each send one request after another over a kept connection. No request is sent twice. */
export class Load {
  answered = 0;
  /** `GET /fhir/Patient/…: 503` for each request that failed. */
  readonly failures: string[] = [];
  private isOver = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly url: () => string,
    private readonly authorization: string,
    /** Pause of each client between two requests. */
    private readonly pauseMilliseconds = 0,
  ) {}

  /** Runs until {@link stop}. */
  start(): void {
    this.isOver = false;
    this.running = this.sendAll(Infinity);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  /** Sends this many requests with each client. */
  async sendAll(each: number): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_value, client) => this.run(`load-${client}`, each)));
  }

  /** Sends this many requests, each over a separate connection. */
  async connect(count: number): Promise<void> {
    const agent = new Agent();
    const connectSome = async (): Promise<void> => {
      for (let sent = 0; sent < count / CLIENTS; sent++) await this.send(agent, 'GET', '/health/live');
    };
    await Promise.all(Array.from({ length: CLIENTS }, connectSome));
  }

  private async run(id: string, count: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = 0; sent < count && !this.isOver; sent++) {
      const { method, path, body } = CALLS[sent % CALLS.length]?.(id, sent) ?? { method: 'GET', path: '/health' };
      const outcome = await this.send(agent, method, path, body);
      if (outcome === '200' || outcome === '201') this.answered++;
      else this.failures.push(`${method} ${path}: ${outcome}`);
      if (this.pauseMilliseconds > 0) await delay(this.pauseMilliseconds);
    }
    agent.destroy();
  }

  private send(agent: Agent, method: string, path: string, body?: string): Promise<string> {
    const headers: OutgoingHttpHeaders = { Authorization: this.authorization };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return new Promise((resolve) => {
      request(`${this.url()}${path}`, { method, agent, headers }, (answer) => {
        answer.once('error', ({ message }) => {
          resolve(message);
        });
        answer.resume().once('end', () => {
          resolve(String(answer.statusCode));
        });
      })
        .once('error', ({ message }) => {
          resolve(message);
        })
        .end(body);
    });
  }
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** Each client writes and reads its own Patient. */
const CALLS: readonly ((id: string, sent: number) => Call)[] = [
  (id, sent) => ({
    method: 'PUT',
    path: `/fhir/Patient/${id}`,
    body: JSON.stringify({ resourceType: 'Patient', id, name: [{ family: id }], multipleBirthInteger: sent }),
  }),
  (id) => ({ method: 'GET', path: `/fhir/Patient/${id}` }),
  (id) => ({ method: 'GET', path: `/fhir/Patient?family=${id}` }),
  (id, sent) => ({
    method: 'POST',
    path: '/fhir/Observation',
    body: JSON.stringify({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'load' },
      subject: { reference: `Patient/${id}` },
      valueInteger: sent,
    }),
  }),
];
