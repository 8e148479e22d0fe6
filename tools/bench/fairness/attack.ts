import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** The address of attackers: another one than that of other clients, since logins queue by address. */
const ADDRESS = '127.0.0.2';
/**
 * The pause after a refusal, although hostile callers ignore `Retry-After`. Without any pause, the bench would measure
 * its own process.
 */
const PAUSE_AFTER_REFUSAL_MILLISECONDS = 100;

/** One request; with a body it is a POST. */
export interface HostileRequest {
  readonly path: string;
  /** The index of the caller; absent for a request without credentials. */
  readonly caller?: number;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** An order from the bench to the attacking process. */
export interface AttackOrder {
  readonly scene: string;
  readonly url: string;
  /** Authorization headers, one for each caller. */
  readonly callers: readonly string[];
  /** The form of a valid login. */
  readonly login: Readonly<Record<string, string>>;
}

/** The result that the attacking process sends back. */
export interface AttackResult {
  readonly seconds: number;
  /** Number of responses by status; 0 means none. Requests under way when the clients disconnected are not counted. */
  readonly statuses: Readonly<Record<number, number>>;
  /** The number of 2xx responses of each caller. */
  readonly successesByCaller: readonly number[];
  /** The beginning of one response per status that is neither a success nor 503. */
  readonly refusals: Readonly<Record<number, string>>;
  /** The slowest of the valid logins; 0 without valid logins. */
  readonly slowestLoginSeconds: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfterSeconds: number;
}

/** The clients of a scene, each request on a separate connection, with the counts of their responses. */
export class Attack {
  private readonly open = new Set<ClientRequest>();
  private readonly statuses: Record<number, number> = {};
  private readonly refusals: Record<number, string> = {};
  private readonly successesByCaller: number[];
  private readonly startedAt = performance.now();
  private slowestLoginSeconds = 0;
  private hasLeft = false;

  constructor(private readonly order: AttackOrder) {
    this.successesByCaller = order.callers.map(() => 0);
  }

  get callers(): number {
    return this.order.callers.length;
  }

  /** Sends the whole request and reads the whole response. */
  send(sent: HostileRequest): Promise<Answer> {
    const { answer, client } = this.begin(sent, (response) => {
      this.read(response);
    });
    client.end(sent.body);
    return answer;
  }

  /** Sends the whole request and reads only the head of the response. */
  sendUnread(sent: HostileRequest): Promise<Answer> {
    const { answer, client } = this.begin(sent, undefined);
    client.end(sent.body);
    return answer;
  }

  /** Sends the head with its full Content-Length, but only part of the body. */
  sendUnfinished(sent: HostileRequest): Promise<Answer> {
    const { answer, client } = this.begin(sent, (response) => {
      this.read(response);
    });
    client.write(sent.body);
    return answer;
  }

  /** Sends until it succeeds or the clients disconnect; after 503 it waits for the requested time. */
  async sendPatiently(sent: HostileRequest): Promise<void> {
    while (!this.hasLeft) {
      const { status, retryAfterSeconds } = await this.send(sent);
      if (status !== 503) return;
      await delay(retryAfterSeconds * 1_000);
    }
  }

  async logIn(wrongName?: string): Promise<void> {
    const form = { ...this.order.login, ...(wrongName === undefined ? {} : { username: wrongName }) };
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const startedAt = performance.now();
    const { status } = await this.send({ path: '/auth/token', body: new URLSearchParams(form).toString(), headers });
    const isRight = wrongName === undefined;
    const seconds = status === 200 ? (performance.now() - startedAt) / 1_000 : Number.POSITIVE_INFINITY;
    if (isRight && !this.hasLeft) this.slowestLoginSeconds = Math.max(this.slowestLoginSeconds, seconds);
  }

  /** Repeats `work` in this many loops; at the end, all clients abort the requests under way. */
  async repeat(seconds: number, loops: number, work: (loop: number) => Promise<unknown>): Promise<void> {
    const loopOf = async (loop: number): Promise<void> => {
      while (!this.hasLeft) await work(loop);
    };
    const working = Promise.all(Array.from({ length: loops }, (_, loop) => loopOf(loop)));
    await Promise.race([working, delay(seconds * 1_000)]);
    this.leave();
  }

  leave(): void {
    this.hasLeft = true;
    for (const client of this.open) client.destroy();
  }

  result(): AttackResult {
    return {
      seconds: (performance.now() - this.startedAt) / 1_000,
      statuses: this.statuses,
      refusals: this.refusals,
      successesByCaller: this.successesByCaller,
      slowestLoginSeconds: this.slowestLoginSeconds,
    };
  }

  private begin(
    { path, caller, body, headers = {} }: HostileRequest,
    read: ((response: IncomingMessage) => void) | undefined,
  ): { answer: Promise<Answer>; client: ClientRequest } {
    const authorization = caller === undefined ? {} : { Authorization: this.order.callers[caller] ?? '' };
    const client = request(`${this.order.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json', ...authorization, ...headers },
      agent: false,
      localAddress: ADDRESS,
    });
    this.open.add(client);
    const answer = new Promise<Answer>((resolve) => {
      const end = (status: number, retryAfterSeconds = 1): void => {
        resolve({ status, retryAfterSeconds });
      };
      client
        .on('response', (response) => {
          const status = response.statusCode ?? 0;
          response.on('error', () => {
            end(0);
          });
          if (read === undefined) end(status);
          response.on('end', () => {
            end(status, Number(response.headers['retry-after'] ?? 1));
          });
          read?.(response);
        })
        .on('error', () => {
          end(0);
        })
        .on('close', () => {
          this.open.delete(client);
          end(0);
        });
    });
    return { answer: answer.then((answered) => this.counted(answered, caller)), client };
  }

  /** Keeps only the beginning of an unusual response. */
  private read(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    const isUsual = status < 400 || status === 503;
    response.on('data', (chunk: Buffer) => {
      if (!isUsual) this.refusals[status] ??= chunk.toString('utf8', 0, 500);
    });
  }

  private async counted(answer: Answer, caller: number | undefined): Promise<Answer> {
    if (this.hasLeft) return answer;
    const { status } = answer;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status >= 200 && status < 300)
      this.successesByCaller[caller ?? 0] = (this.successesByCaller[caller ?? 0] ?? 0) + 1;
    else await delay(PAUSE_AFTER_REFUSAL_MILLISECONDS);
    return answer;
  }
}
