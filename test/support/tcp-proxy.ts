import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A proxy between a server and its database that can withhold the database's answers. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private wanted: { readonly answer: string; readonly sent: string } | undefined;
  /** Connections opened since the last call of {@link fallSilent}. */
  private opened = new Set<Socket>();
  private onHeld: (() => void) | undefined;
  private lateness: { readonly sent: RegExp; readonly milliseconds: () => number } | undefined;
  private isRefusing = false;
  private delay: { readonly sent: string; readonly milliseconds: number } | undefined;
  private last: { readonly answer: string; readonly sent: string } | undefined;
  private isDown = false;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (client) => {
      if (this.isRefusing || this.isDown) client.destroy();
      else this.join(client);
      this.isRefusing = false;
    });
  }

  static async start(targetUrl: string, port = 0): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, new URL(targetUrl));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** The target's URL, through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  /**
   * Resolves when `answer` arrives on a connection on which `sent` was sent. The proxy withholds this answer and all
   * later ones.
   */
  holdAnswer(answer: string, sent: string): Promise<void> {
    this.wanted = { answer, sent };
    return new Promise((resolve) => (this.onHeld = resolve));
  }

  /** Closes all connections, and the next connection that is opened. Later connections work. */
  breakConnections(): void {
    for (const socket of this.sockets) socket.destroy();
    this.isRefusing = true;
  }

  /**
   * Loses the database when `answer` has passed on a connection on which `sent` was sent: closes all connections, and
   * refuses new ones until {@link mend}.
   */
  breakAfter(answer: string, sent: string): void {
    this.last = { answer, sent };
  }

  /** Ends the loss of {@link breakAfter}. Returns whether there was one. */
  mend(): boolean {
    const wasDown = this.isDown;
    this.isDown = false;
    this.last = undefined;
    return wasDown;
  }

  /** Drops all data on the currently open connections, and keeps them open. */
  fallSilent(): void {
    this.opened = new Set();
  }

  /** Delays each answer on connections on which `sent` is sent, from now on. The returned function ends the delay. */
  delayAnswers(sent: string, milliseconds: number): () => void {
    this.delay = { sent, milliseconds };
    return () => (this.delay = undefined);
  }

  /** Delays the answers to matching statements from now on, with all later answers on the same connection. */
  delayStatements(sent: RegExp, milliseconds: () => number): void {
    this.lateness = { sent, milliseconds };
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    const database = connect(Number(this.target.port), this.target.hostname);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay();
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(socket);
          other.destroy();
        });
    }
    let [isMeant, isHeld, isLast] = [false, false, false];
    let slowed: TcpProxy['delay'];
    let [heldUntil, passed] = [0, Promise.resolve()];
    this.opened.add(client);
    client.on('data', (chunk: Buffer) => {
      if (!this.opened.has(client)) return;
      if (this.lateness?.sent.test(chunk.toString('latin1')) === true) {
        heldUntil = performance.now() + this.lateness.milliseconds();
      }
      if (this.delay !== undefined && chunk.includes(this.delay.sent)) slowed = this.delay;
      isMeant ||= this.wanted !== undefined && chunk.includes(this.wanted.sent);
      isLast ||= this.last !== undefined && chunk.includes(this.last.sent);
      if (!this.isDown) database.write(chunk);
    });
    database.on('data', (chunk: Buffer) => {
      if (!this.opened.has(client)) return;
      if (isMeant && this.wanted !== undefined && chunk.includes(this.wanted.answer)) {
        isHeld = true;
        this.wanted = undefined;
        this.onHeld?.();
      }
      if (isHeld || this.isDown) return;
      if (isLast && this.last !== undefined && chunk.includes(this.last.answer)) {
        this.isDown = true;
        client.end(chunk); // the answer still arrives
        for (const socket of this.sockets) if (socket !== client) socket.destroy();
        return;
      }
      if (this.lateness !== undefined) {
        passed = passed
          .then(() => wait(Math.max(0, heldUntil - performance.now())))
          .then(() => void client.write(chunk));
      } else if (slowed === undefined || slowed !== this.delay) client.write(chunk);
      else setTimeout(() => client.write(chunk), slowed.milliseconds);
    });
  }
}
