import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { StartError } from '../errors/start-error';
import { READ_ONLY_TRANSACTION } from './database-error';

/** How long a host may take to answer before the next host is tried too. A frozen host never answers. */
const PATIENCE_MILLISECONDS = 500;

/** Time limit for connecting to one host, if the caller sets none, and for each query of {@link onOwnConnection}. */
const LONGEST_MILLISECONDS = 5_000;

/** Splits a URL into three groups: scheme and user; hosts; database and parameters. */
const URL_PARTS = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]+)((?:[/?#].*)?)$/s;

const TARGET = /[?&]target_session_attrs=([^&#]*)/;

/** SQL conditions under which a host is skipped, by the value of `target_session_attrs`. */
const SKIPPED: Readonly<Record<string, string>> = {
  any: 'false',
  primary: 'pg_is_in_recovery()',
  'read-write': `current_setting('transaction_read_only')::boolean`,
};

type Connected = (error: Error | null, client?: Client) => void;

/**
 * A client for `DATABASE_URL`, which may contain several hosts and `target_session_attrs`, as for libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS). node-postgres supports only one
 * host, and one connect per client. So separate clients probe the hosts first. A URL with one host and without that
 * parameter needs no probe.
 */
export class DatabaseClient extends Client {
  private readonly hosts: readonly { readonly name: string; readonly config: ClientConfig }[];
  private readonly skipped: string;

  /** @throws StartError for a value of `target_session_attrs` with which this server cannot work */
  constructor(config: ClientConfig) {
    const { connectionString: url = '' } = config;
    const [, before = '', names = '', after = ''] = URL_PARTS.exec(url) ?? [];
    const hosts = names
      .split(',')
      .map((name) => ({ name, config: { ...config, connectionString: name === '' ? url : before + name + after } }));
    super(hosts[0]?.config);
    // Without a listener, an 'error' event ends the process, with all members of the error on standard error. It is
    // ignored: the query that runs, or the next one, fails with the same error.
    this.on('error', () => undefined);
    const target = TARGET.exec(url)?.[1] ?? 'any';
    const skipped = SKIPPED[target];
    if (skipped === undefined) {
      throw new StartError(
        `DATABASE_URL has target_session_attrs=${target}. Possible values: ${Object.keys(SKIPPED).join(', ')}.`,
      );
    }
    this.skipped = skipped;
    this.hosts = hosts.length === 1 && target === 'any' ? [] : hosts;
  }

  override connect(): Promise<Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<Client> | undefined {
    const choosing = this.chooseHost();
    if (callback === undefined) return choosing.then(() => super.connect());
    // `super.connect` gets the callback, not a promise. node-postgres calls a callback at once, so the pool adds its
    // error listener before an error in the rest of the received bytes is parsed. A promise would resolve after that.
    choosing.then(() => {
      super.connect(callback);
    }, callback);
    return undefined;
  }

  /**
   * Chooses the first suitable host, and configures this client to connect to it.
   * @throws AggregateError with the failure of each host
   */
  private async chooseHost(): Promise<void> {
    if (this.hosts.length === 0) return;
    try {
      const { host, port } = await this.firstSuitable();
      Object.assign(this, { host, port });
    } catch (error) {
      const { errors } = error as AggregateError & { readonly errors: readonly unknown[] };
      const answers = this.hosts.map(({ name }, index) => `${name}: ${reasonOf(errors[index])}`);
      throw new AggregateError(errors, `No host can be used: ${answers.join('; ')}`, { cause: error });
    }
    // The pool destroys the stream when its time limit for connecting is reached.
    if (this.connection.stream.destroyed) throw new Error('timeout expired');
  }

  /**
   * Returns a client that is connected to the first suitable host, in the order of the URL. A host that fails, or is
   * slower than the next one, is skipped.
   */
  private async firstSuitable(): Promise<Client> {
    const probes: Promise<Client>[] = [];
    for (const { config } of this.hosts) {
      const probe = this.probe(config);
      probes.push(probe);
      const patience = delay(PATIENCE_MILLISECONDS, undefined, { ref: false });
      const found = await Promise.race([Promise.any(probes), probe, patience]).catch(() => undefined);
      if (found !== undefined) return found;
    }
    return Promise.any(probes);
  }

  private async probe(config: ClientConfig): Promise<Client> {
    const { connectionTimeoutMillis: limit = LONGEST_MILLISECONDS } = config;
    const client = new Client({ ...config, connectionTimeoutMillis: limit, query_timeout: limit });
    client.on('error', () => undefined); // ignored: `connect` or `query` fails with the same error
    try {
      await client.connect();
      const { rows } = await client.query<{ isSkipped: boolean }>(`select ${this.skipped} as "isSkipped"`);
      if (rows[0]?.isSkipped === true) throw Object.assign(new Error('is a standby'), { code: READ_ONLY_TRANSACTION });
      return client;
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}

/**
 * Runs `work` on a connection outside of the pool, which is destroyed afterwards. Connecting has a time limit, and so
 * has each query.
 */
export async function onOwnConnection<T>(
  url: string,
  application: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new DatabaseClient({
    connectionString: url,
    application_name: application,
    connectionTimeoutMillis: LONGEST_MILLISECONDS,
    query_timeout: LONGEST_MILLISECONDS,
  });
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.connection.stream.destroy();
  }
}

/**
 * Returns the message of an error. If a host name has several addresses and all fail, the error itself has no message,
 * so those of its parts are joined.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
