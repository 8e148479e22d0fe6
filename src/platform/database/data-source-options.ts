import { type DataSourceOptions } from 'typeorm';
import { CreateResourceStore1795000000000 } from './migrations/1795000000000-create-resource-store';
import { CreateCredentials1795000000001 } from './migrations/1795000000001-create-credentials';
import { CreateAddendum1795000000002 } from './migrations/1795000000002-create-addendum';
import { CreateDelivery1795000000003 } from './migrations/1795000000003-create-delivery';
import { IndexHistoryByTime1795000000005 } from './migrations/1795000000005-index-history-by-time';
import { CreateLiveSearchParameters1795000000006 } from './migrations/1795000000006-create-live-search-parameters';
import { CreateAccessDenials1795000000007 } from './migrations/1795000000007-create-access-denials';
import { CreateCredentialFailure1795000000010 } from './migrations/1795000000010-create-credential-failure';
import { CreateEverythingList1795000000012 } from './migrations/1795000000012-create-everything-list';
import { ReplaceQueueFloors1795000000100 } from './migrations/1795000000100-replace-queue-floors';
import { KeepTheOriginOfBatches1795000000101 } from './migrations/1795000000101-keep-the-origin-of-batches';
import { CreateDeliveryGeneration1795000000102 } from './migrations/1795000000102-create-delivery-generation';
import { BoundTheSearchForOpenBatches1795000000103 } from './migrations/1795000000103-bound-the-search-for-open-batches';
import { DropSuspectDestinations1795000000110 } from './migrations/1795000000110-drop-suspect-destinations';
import { IndexVersionsByTransaction1795000000120 } from './migrations/1795000000120-index-versions-by-transaction';
import { KeySearchIndexRows1795000000200 } from './migrations/1795000000200-key-search-index-rows';
import { IdentifyDeliveryAttempts1795000000201 } from './migrations/1795000000201-identify-delivery-attempts';

export interface DatabaseLimits {
  readonly poolSize: number;
  readonly statementTimeoutSeconds: number;
}

/** What a waiting request may wait for a connection before it is told to come back. */
const CONNECT_TIMEOUT_MILLISECONDS = 5_000;

const IDLE_TIMEOUT_MILLISECONDS = 10 * 60_000;

/** Migrations in order. Never edited after a release; the list is explicit since globs differ between src and dist. */
export const MIGRATIONS = [
  CreateResourceStore1795000000000,
  CreateCredentials1795000000001,
  CreateAddendum1795000000002,
  CreateDelivery1795000000003,
  IndexHistoryByTime1795000000005,
  CreateLiveSearchParameters1795000000006,
  CreateAccessDenials1795000000007,
  CreateCredentialFailure1795000000010,
  CreateEverythingList1795000000012,
  ReplaceQueueFloors1795000000100,
  KeepTheOriginOfBatches1795000000101,
  CreateDeliveryGeneration1795000000102,
  BoundTheSearchForOpenBatches1795000000103,
  DropSuspectDestinations1795000000110,
  IndexVersionsByTransaction1795000000120,
  KeySearchIndexRows1795000000200,
  IdentifyDeliveryAttempts1795000000201,
];

/** Options of the one DataSource: for the app, the migrations at start, and the TypeORM command line. */
export function dataSourceOptions(
  url: string,
  limits: DatabaseLimits = { poolSize: 4, statementTimeoutSeconds: 60 },
): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    synchronize: false,
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    poolSize: limits.poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MILLISECONDS,
    applicationName: 'svc-health-server',
    extra: {
      // BEGIN and the first statement, or a whole limited read, travel in one flight.
      pipeline: true,
      // A connection keeps the plans of its statements: a new one makes them again.
      idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
      keepAlive: true,
      options: sessionSettings(limits.statementTimeoutSeconds),
    },
  };
}

/**
 * Plans are made once per connection, often while the tables are still empty, and must serve any value and any size:
 * hence generic plans that go by indexes in nested loops, as the SQL of the hot paths is written for.
 * The limits end what a crashed or hostile caller leaves behind. Values of failed statements are for no log; the other settings
 * of logs are those of the server alone (docs/operations.md, "Logs").
 */
export function sessionSettings(statementTimeoutSeconds: number): string {
  const settings = {
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
  };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}
