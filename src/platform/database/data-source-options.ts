import { randomBytes } from 'node:crypto';
import { type PoolClient } from 'pg';
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
  /** The URL of PostgreSQL itself, without the pooler. */
  readonly directUrl: string;
}

/** How long a request waits for a connection; after that it gets 503. */
const CONNECT_TIMEOUT_MILLISECONDS = 5_000;

const IDLE_TIMEOUT_MILLISECONDS = 10 * 60_000;

/** @param pooler the pooler that `url` leads through */
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
      // BEGIN and the first statement take one round trip, and so does a read with all its settings.
      pipeline: true,
      // Idle connections are kept, since a new one would have to plan all statements again.
      idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
      keepAlive: true,
      onConnect: (client: PoolClient) => {
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
 * Returns the settings of a session. Plans are made once per connection, often while tables are still empty, and must
 * suit any value and any size. So plans are generic and use indexes. The SQL of the hot paths makes the planner choose
 * nested loops, without a setting for it. So statements of other modules may still use hash and merge joins. The time
 * limits end transactions of crashed or hostile callers. PostgreSQL must not log the values of failed statements. All
 * other log settings are left to the database server (docs/reference/monitoring.md, "Logs").
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

/** Returns the settings in the form of startup options of a connection. */
export function sessionSettings(statementTimeoutSeconds: number): string {
  return Object.entries(settingsOf(statementTimeoutSeconds))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
