import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { Client } from 'pg';
import { type Message, MessageSplitter, leadingStrings, stringMessage } from '../../tools/chaos/message-splitter';

interface Backend {
  readonly client: Client;
  readonly stream: Socket;
  /** Names of the prepared statements of the backend. */
  readonly names: Set<string>;
}

const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
const INVENTED_KEY = Buffer.from('K\0\0\0\x0c\x01\x02\x03\x04\0\0\0\0', 'latin1');
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const PARSED = Buffer.from('1\0\0\0\x04', 'latin1');

/**
 * Pools backends by transaction, like PgBouncer. Each transaction runs in the backend that was idle longest, so never
 * in the backend of the transaction before. Optionally keeps named statements, like PgBouncer 1.21. Supports no session
 * settings, no TLS and no cancel requests.
 */
export class TransactionPooler {
  private readonly idle: Backend[] = [];
  private readonly waiting: ((backend: Backend) => void)[] = [];
  private readonly all: Backend[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
    private readonly keepsNames: boolean,
  ) {
    server.on('connection', (socket) => {
      this.sockets.add(socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket)));
      void this.serve(socket).catch(() => socket.destroy());
    });
  }

  static async start(targetUrl: string, { keepsNames = true, backends = 6 } = {}): Promise<TransactionPooler> {
    const pooler = new TransactionPooler(createServer(), new URL(targetUrl), keepsNames);
    for (let index = 0; index < backends; index++) {
      const client = new Client({ connectionString: targetUrl });
      client.on('error', () => undefined); // reports the end of the connection
      await client.connect();
      client.connection.stream.removeAllListeners('data');
      const backend = { client, stream: client.connection.stream as Socket, names: new Set<string>() };
      pooler.all.push(backend);
      pooler.idle.push(backend);
    }
    pooler.server.listen(0, '127.0.0.1');
    await once(pooler.server, 'listening');
    return pooler;
  }

  /** The target's URL, through this pooler. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  async stop(): Promise<void> {
    for (const socket of [...this.sockets, ...this.all.map(({ stream }) => stream)]) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(socket: Socket): Promise<void> {
    const requests = new MessageSplitter(false);
    const texts = new Map<string, Buffer>();
    let backend: Backend | undefined;
    let batch: Message[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      for (const message of requests.split(chunk)) {
        if (message.type === '') {
          socket.write(welcome(message));
          continue;
        }
        if (message.type === 'X') return void socket.end();
        batch.push(message);
        if (message.type !== 'S' && message.type !== 'Q') continue;
        backend ??= await this.take();
        if ((await this.run(batch, backend, socket, texts)) === 'I') {
          this.giveBack(backend);
          backend = undefined;
        }
        batch = [];
      }
    }
  }

  /** Runs the messages before a Sync or a Query. */
  private async run(batch: Message[], backend: Backend, socket: Socket, texts: Map<string, Buffer>): Promise<string> {
    let injected = 0;
    for (const message of batch) {
      const [first = '', second = ''] = 'PB'.includes(message.type) ? leadingStrings(message, 2) : [];
      const name = message.type === 'B' ? second : first;
      if (!this.keepsNames || name === '') {
        backend.stream.write(message.bytes);
      } else if (message.type === 'P') {
        texts.set(name, message.bytes);
        socket.write(PARSED);
      } else {
        // The backend prepares the statement under another name than the client's.
        const hidden = `p${name.slice(1)}`;
        if (!backend.names.has(name)) {
          backend.stream.write(renamed(texts.get(name) ?? Buffer.alloc(0), 5, hidden));
          backend.names.add(name);
          injected++;
        }
        backend.stream.write(renamed(message.bytes, message.bytes.indexOf(0, 5) + 1, hidden));
      }
    }
    const answers = new MessageSplitter(true);
    for (;;) {
      const [chunk] = (await once(backend.stream, 'data')) as [Buffer];
      for (const { type, bytes } of answers.split(chunk)) {
        if (type === '1' && injected-- > 0) continue;
        socket.write(bytes);
        if (type === 'Z') return String.fromCharCode(bytes[5] ?? 0);
      }
    }
  }

  private take(): Promise<Backend> {
    const backend = this.idle.shift();
    return backend === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve(backend);
  }

  private giveBack(backend: Backend): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(backend);
    else next(backend);
  }
}

function welcome({ bytes }: Message): Buffer {
  if (!bytes.includes('\0options\0')) return Buffer.concat([AUTHENTICATED, INVENTED_KEY, READY]);
  return stringMessage('E', 'SFATAL\0C08P01\0Munsupported startup parameter: options\0');
}

/** Replaces the name at `offset` by another of the same length. */
function renamed(message: Buffer, offset: number, name: string): Buffer {
  const copy = Buffer.from(message);
  copy.write(name, offset);
  return copy;
}
