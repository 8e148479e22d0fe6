import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** The code of a thread that listens and then blocks forever, so it accepts no connection. */
const LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
/** The number of connections that fill the backlog: more than any kernel adds to a backlog of one. */
const FILLERS = 16;

/** A loopback address that never establishes a connection: the backlog is full, so the kernel drops each SYN. */
export class FullBacklog {
  private constructor(
    private readonly listener: Worker,
    private readonly fillers: readonly Socket[],
    readonly url: string,
  ) {}

  static async start(): Promise<FullBacklog> {
    const listener = new Worker(LISTENER, { eval: true });
    const [port] = (await once(listener, 'message')) as [number];
    const fillers = Array.from({ length: FILLERS }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await delay(200);
    return new FullBacklog(listener, fillers, `http://127.0.0.1:${port}/hook`);
  }

  async stop(): Promise<void> {
    for (const socket of this.fillers) socket.destroy();
    await this.listener.terminate();
  }
}
