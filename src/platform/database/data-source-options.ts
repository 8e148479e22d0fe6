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
  /** Leads to PostgreSQL itself. */
  readonly directUrl: string;
}

/** The longest wait for a connection; then the request is answered with 503. */
const CONNECT_TIMEOUT_MILLISECONDS = 5_000;

const IDLE_TIMEOUT_MILLISECONDS = 10 * 60_000;

/**
 * Options of the one DataSource.
 * @param pooler the one that `url` leads through
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
      // BEGIN and the first statement, or a whole limited read, travel in one flight.
      pipeline: true,
      // A connection keeps the plans of its statements: a new one makes them again.
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
 * An 'error' event without a listener would end the process, and one can follow in the bytes that connect. A connection
 * that breaks fails the statement that runs, or the next one.
 */
function hearErrors(client: ClientBase): void {
  client.on('error', () => undefined);
}

/**
 * Plans are made once per connection, often while the tables are still empty, and must serve any value and any size:
 * hence generic plans that go by indexes in nested loops, as the SQL of the hot paths is written for. The limits end
 * what a crashed or hostile caller leaves behind. Values of failed statements are for no log; the other settings of
 * logs are those of the server alone (docs/reference/monitoring.md, "Logs").
 */
function settingsOf(statementTimeoutSeconds: number): Settings {
  return {
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    statement_timeout: statementTimeoutSeconds * 1000,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: 15_000,
    timezone: 'UTC',
    log_parameter_max_length_on_error: 0,
    'svc.row_format': ROW_FORMAT,
  };
}

/** The settings as the start of a session takes them. */
export function sessionSettings(statementTimeoutSeconds: number): string {
  return Object.entries(settingsOf(statementTimeoutSeconds))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
