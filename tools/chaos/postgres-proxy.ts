import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { type Message, MessageSplitter, leadingStrings, stringMessage } from './message-splitter';
import { Outlet } from './outlet';
import { type PreparedTransactions } from './prepared-transactions';
import { type SlowFaults, hold } from './slow-faults';

/** A response that the database still has to send, in the order of the requests. */
interface Owed {
  /** The name of a prepared statement, or the first word of a simple query. */
  readonly statement: string;
  /** The name of the transaction if PREPARE TRANSACTION was sent instead of COMMIT. */
  readonly preparedAs?: string;
}

/** A part of the SQL by which a transaction records events. */
const RECORDS_EVENTS = 'insert into outbox_event';
/**
 * The types of messages that the database may send between two responses (NoticeResponse, ParameterStatus,
 * NotificationResponse).
 */
const OUT_OF_BAND = 'NSA';

/**
 * A proxy between one server and PostgreSQL that delays single responses and commits. Uses the protocol without TLS.
 */
export class PostgresProxy {
  private readonly connections = new Set<Connection>();

  private constructor(
    private readonly listener: Server,
    private readonly target: URL,
  ) {}

  static async start(
    targetUrl: string,
    { faults, prepared }: { faults: SlowFaults; prepared: PreparedTransactions },
  ): Promise<PostgresProxy> {
    const listener = createServer();
    const proxy = new PostgresProxy(listener, new URL(targetUrl));
    listener.on('connection', (client) => {
      const database = connect(Number(proxy.target.port), proxy.target.hostname);
      const connection = new Connection(client, database, faults, prepared);
      proxy.connections.add(connection);
      client.once('close', () => proxy.connections.delete(connection));
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return proxy;
  }

  /** The target's URL, through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
    return url.href;
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.end();
    this.listener.close();
    await once(this.listener, 'close');
  }
}

class Connection {
  private readonly toDatabase: Outlet;
  private readonly toClient: Outlet;
  private readonly recording = new Set<string>();
  /** The responses still to come. The start of a session also has a response, like a statement. */
  private readonly owed: Owed[] = [{ statement: '' }];
  private statement = '';
  private hasRecorded = false;
  private isAnswerBegun = false;

  constructor(
    private readonly client: Socket,
    private readonly database: Socket,
    private readonly faults: SlowFaults,
    private readonly prepared: PreparedTransactions,
  ) {
    this.toDatabase = new Outlet(database);
    this.toClient = new Outlet(client);
    for (const socket of [client, database]) {
      socket.setNoDelay();
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.end();
        });
    }
    const [requests, answers] = [new MessageSplitter(false), new MessageSplitter(true)];
    client.on('data', (chunk: Buffer) => {
      this.toDatabase.together(() => {
        for (const message of requests.split(chunk)) this.request(message);
      });
    });
    database.on('data', (chunk: Buffer) => {
      this.toClient.together(() => {
        for (const message of answers.split(chunk)) this.answer(message);
      });
    });
  }

  end(): void {
    this.client.destroy();
    this.database.destroy();
  }

  private request(message: Message): void {
    const { type, bytes } = message;
    if (type === 'P') {
      const [name = '', text = ''] = leadingStrings(message, 2);
      if (text.includes(RECORDS_EVENTS)) this.recording.add(name);
    } else if (type === 'B') {
      this.statement = leadingStrings(message, 2)[1] ?? '';
      this.hasRecorded ||= this.recording.has(this.statement);
    } else if (type === 'S') {
      this.owed.push({ statement: this.statement });
    } else if (type === 'Q') {
      this.query(message);
      return;
    }
    this.toDatabase.send(bytes);
  }

  private query(message: Message): void {
    const [text = ''] = leadingStrings(message, 1);
    const isCommit = text === 'COMMIT';
    const fault = isCommit ? this.faults.commitFault(this.hasRecorded) : undefined;
    if (isCommit || text.startsWith('BEGIN') || text === 'ROLLBACK') this.hasRecorded = false;
    if (fault?.kind === 'prepared') {
      const preparedAs = this.prepared.nameFor(fault.milliseconds);
      this.owed.push({ statement: text, preparedAs });
      this.toDatabase.send(stringMessage('Q', `PREPARE TRANSACTION '${preparedAs}'`));
      return;
    }
    this.owed.push({ statement: text.split(' ', 1)[0] ?? '' });
    this.toDatabase.send(message.bytes, fault && (() => hold(fault.milliseconds)));
  }

  private answer(message: Message): void {
    const { type, bytes } = message;
    const [owed] = this.owed;
    if (owed === undefined || (OUT_OF_BAND.includes(type) && !this.isAnswerBegun)) {
      this.toClient.send(bytes);
      return;
    }
    const milliseconds = this.isAnswerBegun || owed.statement === '' ? 0 : this.faults.answerDelay(owed.statement);
    this.isAnswerBegun = type !== 'Z';
    if (type === 'Z') this.owed.shift();
    const { preparedAs } = owed;
    if (preparedAs !== undefined && type === 'C' && leadingStrings(message, 1)[0] === 'PREPARE TRANSACTION') {
      this.toClient.send(stringMessage('C', 'COMMIT'), () => this.prepared.whenCommitted(preparedAs));
    } else {
      this.toClient.send(bytes, milliseconds > 0 ? () => hold(milliseconds) : undefined);
    }
  }
}
