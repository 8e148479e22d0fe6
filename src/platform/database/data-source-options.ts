import { randomBytes } from 'node:crypto';
import { type ClientBase, type PoolClient } from 'pg';
import { type DataSourceOptions } from 'typeorm';
import { DatabaseClient } from './database-client';
import { type Pooling } from './pooler';
import { ROW_FORMAT } from './row-format';
import { SilentConnections } from './silent-connections';
import { type Settings, sendSettingsWithTransactions } from './transaction-settings';

export interface DatabaseLimits {
  readonly poolSize: number;
  readonly statementTimeoutSeconds: number;
}

export interface Pooler {
  readonly pooling: Pooling;
  /** The URL of PostgreSQL itself, without a pooler. */
  readonly directUrl: string;
}

/** Longest wait for a connection; after it, the request is answered with 503. */
const CONNECT_TIMEOUT_MILLISECONDS = 5_000;

const IDLE_TIMEOUT_MILLISECONDS = 10 * 60_000;

/**
 * Options of the only DataSource.
 * @param pooler the pooler that `url` leads through
 */
export function dataSourceOptions(
  url: string,
  limits: DatabaseLimits = { poolSize: 4, statementTimeoutSeconds: 60 },
  pooler?: Pooler,
): DataSourceOptions {
  const silent = new SilentConnections(pooler?.directUrl ?? url);
  const process = randomBytes(4).toString('hex');
  let connections = 0;
  return {
    type: 'postgres',
    url,
    synchronize: false,
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    poolSize: limits.poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MILLISECONDS,
    applicationName: 'svc-health-server',
    extra: {
      Client: DatabaseClient,
      // Pipelining: BEGIN and the first statement, or a whole limited read, take one round trip.
      pipeline: true,
      // Keep connections: each holds the plans of its statements, which a new one would have to make again.
      idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
      keepAlive: true,
      onConnect: (client: PoolClient) => {
        hearErrors(client);
        if (pooler === undefined) {
          silent.watch(client);
          return;
        }
        const name = `svc-health-server ${process}-${++connections}`;
        sendSettingsWithTransactions(client, pooler.pooling, {
          ...settingsOf(limits.statementTimeoutSeconds),
          application_name: name,
        });
        silent.watch(client, name);
      },
      ...(pooler === undefined ? { options: sessionSettings(limits.statementTimeoutSeconds) } : {}),
    },
  };
}

/**
 * Without a listener, an 'error' event would end the process, and one can follow in the same bytes as the connect
 * answer. A broken connection fails its current or next statement.
 */
function hearErrors(client: ClientBase): void {
  client.on('error', () => undefined);
}

/**
 * Plans are made once per connection, often while tables are still empty, and must suit any value and size. So they are
 * generic, and use indexes. The SQL of the hot paths leads to nested loops by itself, so hash and merge joins stay
 * allowed, for statements of other modules. The limits end transactions of crashed or hostile callers. Values of failed
 * statements must not be logged; all other log settings are the server's (docs/reference/monitoring.md, "Logs").
 */
function settingsOf(statementTimeoutSeconds: number): Settings {
  return {
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    jit: 'off',
    statement_timeout: statementTimeoutSeconds * 1000,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: 15_000,
    timezone: 'UTC',
    log_parameter_max_length_on_error: 0,
    'svc.row_format': ROW_FORMAT,
  };
}

/** The settings in the form of the connection's startup options. */
export function sessionSettings(statementTimeoutSeconds: number): string {
  return Object.entries(settingsOf(statementTimeoutSeconds))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
