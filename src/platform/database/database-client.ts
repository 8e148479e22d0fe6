import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { StartError } from '../errors/start-error';
import { READ_ONLY_TRANSACTION } from './database-error';

/** Delay before the next host is tried while one, such as a frozen one, does not answer. */
const PATIENCE_MILLISECONDS = 500;

/** Time limit per host, if the caller sets none. */
const CONNECT_TIMEOUT_MILLISECONDS = 5_000;

/** Three groups: scheme and user; hosts; database and parameters. */
const URL_PARTS = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/s;

const TARGET = /[?&]target_session_attrs=([^&#]*)/;

/** Conditions on which a host is skipped, by the value of `target_session_attrs`. */
const SKIPPED: Readonly<Record<string, string>> = {
  any: 'false',
  primary: 'pg_is_in_recovery()',
  'read-write': `current_setting('transaction_read_only')::boolean`,
};

type Connected = (error: Error | null, client?: Client) => void;

/**
 * A client for `DATABASE_URL`, which may contain several hosts and `target_session_attrs`, as for libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS). node-postgres supports only one
 * host, and one connect per client, so separate clients probe the hosts. A URL with one host and without that parameter
 * needs no probe.
 */
export class DatabaseClient extends Client {
  private readonly hosts: readonly { readonly name: string; readonly config: ClientConfig }[];
  private readonly skipped: string;

  /**
   * @throws StartError for a value of `target_session_attrs` that suits no server
   * @throws StartError for a value of `target_session_attrs` that names no database for a server
   */
  constructor(config: ClientConfig) {
    const { connectionString: url = '' } = config;
    const [, before = '', names = '', after = ''] = URL_PARTS.exec(url) ?? [];
    const hosts = names
      .split(',')
      .map((name) => ({ name, config: { ...config, connectionString: name === '' ? url : before + name + after } }));
    super(hosts[0]?.config);
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
    // The callback of node-postgres adds the error listener before the same bytes can report an error; a promise would
    // be too late.
    choosing.then(() => {
      super.connect(callback);
    }, callback);
    return undefined;
  }

  /**
   * @throws AggregateError with the answer of each host
   * @throws AggregateError that names what each host answered
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
    // The pool's time limit for connecting was reached meanwhile.
    if (this.connection.stream.destroyed) throw new Error('timeout expired');
  }

  /** The first suitable host in the order of the URL, skipping those that fail or are slower than the next one. */
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
    const { connectionTimeoutMillis: limit = CONNECT_TIMEOUT_MILLISECONDS } = config;
    const client = new Client({ ...config, connectionTimeoutMillis: limit, query_timeout: limit });
    client.on('error', () => undefined); // makes `connect` or `query` fail too
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

/** If a host name has several addresses and all fail, the error has no message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
