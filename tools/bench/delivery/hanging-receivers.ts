import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';

/** The behavior of a receiver from the moment of the connection. */
const WAYS = {
  'reads nothing': (socket) => {
    socket.pause();
  },
  'answers nothing': (socket) => {
    socket.resume();
  },
  'drips its head': (socket) => {
    socket.resume();
    drip(socket, 'HTTP/1.1 200 OK\r\nX-Drip: ', 1000);
  },
  'answers its head slowly': (socket) => {
    socket.resume();
    drip(socket, 'HTTP/1.1 ', 5000);
  },
  'never completes TLS': (socket) => {
    socket.resume();
  },
} as const satisfies Record<string, (socket: Socket) => void>;

export type Way = keyof typeof WAYS;
export const HANGING_WAYS = Object.keys(WAYS) as Way[];

/** Sends one letter after another, without end. */
function drip(socket: Socket, head: string, milliseconds: number): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), milliseconds);
  socket.on('close', () => {
    clearInterval(timer);
  });
}

/** Webhook endpoints on the loopback that never take a notification, each in another way. */
export class HangingReceivers {
  /** The number of bytes read so far, on open and closed connections. */
  bytesRead = 0;
  private readonly sockets = new Map<Way, Set<Socket>>();

  private constructor(private readonly servers: ReadonlyMap<Way, Server>) {
    for (const [way, server] of servers) {
      const open = new Set<Socket>();
      this.sockets.set(way, open);
      server.on('connection', (socket) => {
        open.add(socket);
        socket.on('close', () => open.delete(socket));
        socket.on('error', () => undefined);
        if (way !== 'reads nothing') socket.on('data', ({ length }) => (this.bytesRead += length));
        WAYS[way](socket);
      });
    }
  }

  static async start(): Promise<HangingReceivers> {
    const receivers = new HangingReceivers(new Map(HANGING_WAYS.map((way) => [way, createServer()])));
    for (const server of receivers.servers.values())
      await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2000 }, resolve));
    return receivers;
  }

  /** The path distinguishes destinations. */
  urlOf(way: Way, path: string): string {
    const { port } = this.servers.get(way)?.address() as AddressInfo;
    return `${way === 'never completes TLS' ? 'https' : 'http'}://127.0.0.1:${port}/${path}`;
  }

  /**
   * The number of connections that are open now. A connection that is not read stays open here, even when its peer has
   * closed it.
   */
  open(...ways: readonly Way[]): number {
    return (ways.length > 0 ? ways : HANGING_WAYS).reduce((sum, way) => sum + (this.sockets.get(way)?.size ?? 0), 0);
  }

  /** Whether the peers have closed all connections that are read. Connections that are not read are closed here. */
  areLeft(): boolean {
    if (this.open(...HANGING_WAYS.filter((way) => way !== 'reads nothing')) > 0) return false;
    for (const socket of this.sockets.get('reads nothing') ?? []) socket.destroy();
    return true;
  }

  async stop(): Promise<void> {
    for (const sockets of this.sockets.values()) for (const socket of sockets) socket.destroy();
    await Promise.all([...this.servers.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
