import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { nearestCode } from '../text/nearest-code';
import { originFault, proxyFault } from './network-values';
import { DEFAULT_PROCESSES, processesOf } from './processes';
import { SECRET_SETTINGS, secretIn, settingIn } from './secret-settings';

/** Reads the fields of {@link Environment}, while {@link readEnvironment} makes one. */
let read: VariableReader;

/**
 * The settings of one server process. They are read once at the start, checked, and frozen. Names contain the unit of
 * their value. Every field is described in docs/reference/settings.md; a spec compares the two.
 * @example
 * &#64;Injectable()
 * export class WardLinks {
 *   constructor(private readonly environment: Environment) {}
 *
 *   to(id: string): string {
 *     return `${this.environment.baseUrl}/fhir/Ward/${id}`;
 *   }
 * }
 */
export class Environment {
  /** `DATABASE_URL`: an external PostgreSQL. If unset, the embedded PostgreSQL below {@link dataDirectory} is used. */
  readonly databaseUrl = read.matching('DATABASE_URL', POSTGRESQL_URL, 'a postgresql:// URL');
  /** `SVC_DATABASE_DIRECT_URL`: {@link databaseUrl} without the pooler, for work that needs a whole session. */
  readonly databaseDirectUrl = read.matching('SVC_DATABASE_DIRECT_URL', POSTGRESQL_URL, 'a postgresql:// URL');
  /** `PORT`: HTTP port. With 0 the system chooses a free port. */
  readonly port = read.integer('PORT', 3000, 0, 65_535);
  /** `HOST`: listen address. Default: 127.0.0.1 with the embedded database, else 0.0.0.0. */
  readonly host = read.text('HOST') ?? (this.databaseUrl === undefined ? '127.0.0.1' : '0.0.0.0');
  /** `SVC_METRICS_PORT`: port of the metrics. If unset, they are not served; with 0 the system chooses a free port. */
  readonly metricsPort = read.integer('SVC_METRICS_PORT', undefined, 0, 65_535);
  /** `SVC_METRICS_HOST`: listen address of the metrics. */
  readonly metricsHost = read.text('SVC_METRICS_HOST') ?? '127.0.0.1';
  /** `BASE_URL`: the beginning of links and of `fullUrl`, and the issuer of JWTs. It has no trailing slash. */
  readonly baseUrl = (
    read.matching('BASE_URL', /^https?:\/\/[^?#]+$/, 'an http(s) URL') ?? `http://localhost:${this.port}`
  ).replace(/(?<!\/)\/+$/, '');
  /** `DATA_DIR`: the folder of the embedded PostgreSQL cluster and of generated keys and credentials. */
  readonly dataDirectory = resolve(read.text('DATA_DIR') ?? 'data');
  /** `SVC_ROOT_CLIENT_SECRET`: secret of Client `root`, needed at the first start on an external database. */
  readonly rootClientSecret = read.text('SVC_ROOT_CLIENT_SECRET');
  /** `SVC_ADMIN_PASSWORD`: password of User `admin`, needed at the first start on an external database. */
  readonly adminPassword = read.text('SVC_ADMIN_PASSWORD');
  /** `SVC_TRIAL_POLICY`: whether a new database gets a policy that lets every authenticated caller do everything. */
  readonly hasTrialPolicy = read.isOn('SVC_TRIAL_POLICY', this.databaseUrl === undefined);
  /** `SVC_ENCRYPTION_KEY`: the key, 32 bytes in base64, that encrypts all secrets in the database except hashes. */
  readonly encryptionKey: Buffer | undefined = read.key('SVC_ENCRYPTION_KEY');
  /** `SVC_ENCRYPTION_KEYS_ACCEPTED`: earlier keys, which still decrypt stored secrets while the key is rotated. */
  readonly encryptionKeysAccepted: readonly Buffer[] = read.keys('SVC_ENCRYPTION_KEYS_ACCEPTED');
  /** `SVC_TRUSTED_PROXIES`: addresses or subnets of proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies = read.list('SVC_TRUSTED_PROXIES', 'addresses or subnets', proxyFault);
  /** `SVC_CORS_ORIGINS`: origins of web pages that may call this server. */
  readonly corsOrigins = read.list('SVC_CORS_ORIGINS', 'origins of browsers', originFault);
  /** `SVC_LOG_LEVEL`: the lowest level that is logged. */
  readonly logLevel: LogLevel = read.oneOf('SVC_LOG_LEVEL', ['error', 'warn', 'log', 'debug', 'verbose'], 'log');
  /** `SVC_ACCESS_LOG`: whether each request is logged. */
  readonly hasAccessLog = read.isOn('SVC_ACCESS_LOG', true);
  /** Whether the standard variables of OpenTelemetry turn traces on. */
  readonly isTraced!: boolean;
  /** `SVC_BODY_LIMIT_BYTES`: the largest request body; a larger one gets 413. */
  readonly bodyLimitBytes = read.integer('SVC_BODY_LIMIT_BYTES', 20 * 1024 * 1024, 1024, 1024 ** 3);
  /** `SVC_MEMORY_BUDGET_BYTES`: memory for all requests together: for bodies, values derived from them, and answers. */
  readonly memoryBudgetBytes!: number;
  /** `SVC_COMPRESSION`: whether long answers are compressed for callers that accept it. */
  readonly hasCompression = read.isOn('SVC_COMPRESSION', true);
  /** `SVC_API_DOCS`: whether Swagger UI and the OpenAPI document are served, to everybody. */
  readonly hasApiDocs = read.isOn('SVC_API_DOCS', true);
  /** `SVC_CONSOLE`: whether the console is served, and its Client created in a new embedded database. */
  readonly hasConsole = read.isOn('SVC_CONSOLE', true);
  /** `SVC_BUNDLE_ENTRIES_MAX`: maximum number of entries of a processed Bundle; a longer one gets 413. */
  readonly bundleEntriesMax = read.integer('SVC_BUNDLE_ENTRIES_MAX', 10_000, 1, 1_000_000);
  /** `SVC_BUNDLE_TIMEOUT_SECONDS`: time limit of a whole Bundle, after which it gets 504. */
  readonly bundleTimeoutSeconds = read.integer('SVC_BUNDLE_TIMEOUT_SECONDS', 120, 1, 3600);
  /** `SVC_INIT_BUNDLE`: file with a Bundle that is processed at each start, before the port opens. */
  readonly initBundle = read.text('SVC_INIT_BUNDLE');
  /** `SVC_PROCESSES`: how many processes serve the port. It may be reduced; {@link processesNote} then says why. */
  readonly processes!: number;
  /** Why there are fewer processes than `SVC_PROCESSES`; undefined if there are as many. */
  readonly processesNote!: string | undefined;
  /** `SVC_DATABASE_POOL_SIZE`: how many database connections this start uses. */
  readonly databasePoolSize!: number;
  /** `SVC_STATEMENT_TIMEOUT_SECONDS`: time limit of one statement, after which its request gets 504. */
  readonly statementTimeoutSeconds = read.integer('SVC_STATEMENT_TIMEOUT_SECONDS', 60, 1, 3600);
  /** `SVC_SEARCH_TIMEOUT_MAX_SECONDS`: the largest `_timeout` of a search. */
  readonly searchTimeoutMaxSeconds = read.integer('SVC_SEARCH_TIMEOUT_MAX_SECONDS', 300, 1, 86_400);
  /** `SVC_EVERYTHING_TIMEOUT_MAX_SECONDS`: the largest `_timeout` of `$everything`. */
  readonly everythingTimeoutMaxSeconds = read.integer('SVC_EVERYTHING_TIMEOUT_MAX_SECONDS', 300, 1, 86_400);
  /** `SVC_EVERYTHING_LIST_SECONDS`: how long further pages of an `$everything` can be requested. */
  readonly everythingListSeconds = read.integer('SVC_EVERYTHING_LIST_SECONDS', 3600, 1, 86_400);
  /** `SVC_STREAM_STALL_SECONDS`: within this time a caller must send 64 kB of a body, or take 64 kB of an answer. */
  // The maximum is below 15 s, after which PostgreSQL ends an idle transaction.
  readonly streamStallSeconds = read.integer('SVC_STREAM_STALL_SECONDS', 10, 1, 12);
  /** `SVC_PASSWORD_HASH_SLOTS`: how many threads compute password hashes, each one hash at a time. */
  readonly passwordHashSlots = read.integer('SVC_PASSWORD_HASH_SLOTS', DEFAULT_HASH_SLOTS, 1, 64);
  /** `SVC_PASSWORD_HASH_QUEUE`: how many logins and new passwords may wait for a thread; further ones get 503. */
  readonly passwordHashQueue = read.integer('SVC_PASSWORD_HASH_QUEUE', 500, 0, 10_000);
  /** `SVC_PASSWORD_MIN_LENGTH`: minimum number of code points of a new password; a shorter one gets 422. */
  readonly passwordMinLength = read.integer('SVC_PASSWORD_MIN_LENGTH', 8, 1, 64);
  /** `SVC_CREDENTIAL_FAILURES_FREE`: failures of one account from one address before the next try must wait. */
  readonly credentialFailuresFree = read.integer('SVC_CREDENTIAL_FAILURES_FREE', 10, 1, 1_000_000);
  /** `SVC_CREDENTIAL_FAILURES_FREE_PER_ADDRESS`: failures of one address before its logins run one at a time. */
  readonly credentialFailuresFreePerAddress = read.integer(
    'SVC_CREDENTIAL_FAILURES_FREE_PER_ADDRESS',
    10,
    1,
    1_000_000,
  );
  /** `SVC_CREDENTIAL_FAILURE_WINDOW_SECONDS`: failures are forgotten after this time without another failure. */
  readonly credentialFailureWindowSeconds = read.integer('SVC_CREDENTIAL_FAILURE_WINDOW_SECONDS', 600, 1, 86_400);
  /** `SVC_SESSION_RETENTION_DAYS`: how long an ended Session is kept; 0 keeps it forever. */
  readonly sessionRetentionDays = read.integer('SVC_SESSION_RETENTION_DAYS', 90, 0, 36_500);
  /** `SVC_SESSION_SWEEP_SECONDS`: how often expired Sessions are ended and old ones deleted; 0: never. */
  readonly sessionSweepSeconds = read.integer('SVC_SESSION_SWEEP_SECONDS', 60, 0, 86_400);
  /** `SVC_KEY_OVERLAP_SECONDS`: how long a new signing key is published before it signs. */
  readonly keyOverlapSeconds = read.integer('SVC_KEY_OVERLAP_SECONDS', 3600, 0, 2_592_000);
  /** `SVC_CREATED_AT_URL`: url of the extension in `meta` that contains the creation time. */
  readonly createdAtUrl =
    read.matching('SVC_CREATED_AT_URL', /^[A-Za-z][A-Za-z0-9+.-]*:[^\s"<>\\^`{|}]+$/, 'an absolute URI') ??
    'urn:svc:created-at';
  /** `SVC_REFERENCE_CHECK`: whether references to resources of this server must have a stored target. */
  readonly hasReferenceCheck = read.isOn('SVC_REFERENCE_CHECK', false);
  /**
   * `SVC_AUDIT`: the actions recorded as AuditEvents: `security`, `all` (also reads, searches and writes), or `off`.
   */
  readonly audit = read.oneOf('SVC_AUDIT', ['security', 'all', 'off'], 'security');
  /** `SVC_ADDENDUM_AUTHOR`: `any` stores `user` as sent; `caller` refuses a call of a User that names another User. */
  readonly addendumAuthor = read.oneOf('SVC_ADDENDUM_AUTHOR', ['any', 'caller'], 'any');
  /** `SVC_ADDENDUM_TYPES`: file that declares types of addenda with their required members. */
  readonly addendumTypes = read.text('SVC_ADDENDUM_TYPES');
  /** `SVC_WEBHOOK_ADDRESSES`: which addresses a webhook may be sent to. */
  readonly webhookAddresses = read.oneOf(
    'SVC_WEBHOOK_ADDRESSES',
    ['no-metadata', 'public-only', 'open'],
    'no-metadata',
  );
  /** `SVC_TOPIC_CORRELATION_HEADER`: the request header, in lower case, whose value is delivered with events. */
  readonly topicCorrelationHeader = (
    read.matching('SVC_TOPIC_CORRELATION_HEADER', HANDED_ON_HEADER, 'the name of a header without credentials') ??
    'x-topic-correlation-id'
  ).toLowerCase();
  /** `SVC_DELIVERY`: whether this process delivers events; `off` for servers on a copy of a database. */
  readonly isDelivering = read.isOn('SVC_DELIVERY', true);
  /**
   * `SVC_DELIVERY_SLOTS`: how many batches of healthy destinations are claimed, rendered or settled at the same time.
   */
  readonly deliverySlots = read.integer('SVC_DELIVERY_SLOTS', 4, 1, 1000);
  /** `SVC_DELIVERY_BUFFER_BYTES`: memory for rendered notifications that sockets have not taken yet. */
  readonly deliveryBufferBytes = read.integer('SVC_DELIVERY_BUFFER_BYTES', 64 * 1024 * 1024, 1024 * 1024, 1024 ** 3);
  /** `SVC_DELIVERY_POLL_MILLISECONDS`: maximum interval between two searches for undelivered events. */
  readonly deliveryPollMilliseconds = read.integer('SVC_DELIVERY_POLL_MILLISECONDS', 1000, 50, 60_000);
  /** `SVC_DELIVERY_RETENTION_DAYS`: how long delivered events and attempts can be read and replayed. */
  readonly deliveryRetentionDays = read.integer('SVC_DELIVERY_RETENTION_DAYS', 7, 1, 3650);
  /**
   * `SVC_KEEP_ALIVE_SECONDS`: after this idle time a connection is closed. It should be longer than that of proxies.
   */
  readonly keepAliveSeconds = read.integer('SVC_KEEP_ALIVE_SECONDS', 65, 1, 3600);
  /** `SVC_HEADER_TIMEOUT_SECONDS`: time limit for receiving the head of a request. */
  readonly headerTimeoutSeconds = read.integer('SVC_HEADER_TIMEOUT_SECONDS', 65, 1, 300);
  /** `SVC_DATABASE_WAIT_SECONDS`: how long the start tries to connect to the database of `DATABASE_URL`. */
  readonly databaseWaitSeconds = read.integer('SVC_DATABASE_WAIT_SECONDS', 30, 0, 3600);
  /** `SVC_DRAIN_SECONDS`: how long after SIGTERM requests are still answered, while `/health/ready` already fails. */
  readonly drainSeconds = read.integer('SVC_DRAIN_SECONDS', 0, 0, 600);
  /** `SVC_SHUTDOWN_SECONDS`: how long running requests and deliveries may take to end after SIGTERM. */
  readonly shutdownSeconds = read.integer('SVC_SHUTDOWN_SECONDS', 25, 0, 600);
  /**
   * `SVC_POSTGRES_BIN_DIR`: folder of `postgres` and `initdb` for the embedded database, instead of the npm package.
   */
  readonly postgresBinDirectory = read.text('SVC_POSTGRES_BIN_DIR');
}

/**
 * Default number of hash threads. One processor stays free for requests. With more than eight threads, hashes would
 * take too much memory.
 */
const DEFAULT_HASH_SLOTS = Math.min(8, Math.max(1, availableParallelism() - 1));

/**
 * Names that the correlation header may have: a field name (RFC 9110, section 5.1), except headers whose values are
 * secret.
 */
const HANDED_ON_HEADER = /^(?!(?:authorization|proxy-authorization|cookie)$)[\w!#$%&'*+.^`|~-]{1,64}$/i;

/** Settings of earlier releases, each with the release that removed it. */
const REMOVED: ReadonlyMap<string, string> = new Map([['SVC_STREAM_MAX_SECONDS', '0.2.0']]);

const POSTGRESQL_URL = /^postgres(ql)?:\/\//;
/**
 * Variables that turn traces on (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 * The OpenTelemetry SDK reads their values itself.
 */
const TRACES = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

const isTracedBy = (variables: NodeJS.ProcessEnv): boolean =>
  variables.OTEL_SDK_DISABLED !== 'true' &&
  variables.OTEL_TRACES_EXPORTER !== 'none' &&
  TRACES.some((name) => settingIn(variables, name) !== undefined);

export type LogLevel = 'error' | 'warn' | 'log' | 'debug' | 'verbose';

/**
 * The error for wrong settings. It names every wrong variable at once. It is thrown before anything is started.
 * @example
 * await createServer({ environment: { PORT: 'x' } }).catch((error: unknown) => {
 *   if (error instanceof EnvironmentError) console.error(error.problems);
 * });
 */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  constructor(readonly problems: readonly string[]) {
    super(`Wrong settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/**
 * Reads the settings from the environment variables of docs/reference/settings.md.
 * @throws EnvironmentError that names every wrong variable
 */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  read = new VariableReader(variables);
  const settings = new Environment();
  const { databaseUrl, databaseDirectUrl, bodyLimitBytes } = settings;
  if (databaseDirectUrl !== undefined && databaseUrl === undefined)
    read.problems.push('SVC_DATABASE_DIRECT_URL needs DATABASE_URL, the URL of the pooler');
  const isEmbedded = databaseUrl === undefined;
  const memoryBudgetBytes = read.integer('SVC_MEMORY_BUDGET_BYTES', undefined, 8 * 1024 * 1024, 8 * 1024 ** 3);
  const databasePoolSize = read.integer('SVC_DATABASE_POOL_SIZE', undefined, 4, 1000);
  const wanted = read.integer('SVC_PROCESSES', isEmbedded ? 1 : DEFAULT_PROCESSES, 1, 256);
  const environment: Environment = {
    ...settings,
    ...processesOf({ wanted, isEmbedded, bodyLimitBytes, memoryBudgetBytes, databasePoolSize }),
    isTraced: isTracedBy(variables),
  };
  const problems = [...read.problems, ...read.unknownNames()];
  if (problems.length > 0) throw new EnvironmentError(problems);
  return Object.freeze(environment);
}

/**
 * Like {@link readEnvironment}, for a server that runs inside the process of another program. Such a server starts no
 * further processes.
 */
export const readEnvironmentOfOne = (variables: NodeJS.ProcessEnv = process.env): Environment =>
  readEnvironment({ ...variables, SVC_PROCESSES: '1' });

/**
 * Whether Kubernetes set this variable, not the operator. For a Service whose name begins with `svc-`, Kubernetes sets
 * variables that begin with `SVC_` in each container.
 */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name) || /^(tcp|udp|sctp):\/\//.test(value);

/** Length of an encryption key, for AES-256. */
const KEY_BYTES = 32;

class VariableReader {
  readonly problems: string[] = [];
  private readonly known = new Set<string>();

  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  text(name: string): string | undefined {
    this.known.add(name);
    const secret = SECRET_SETTINGS.find((one) => one === name);
    if (secret === undefined) return settingIn(this.variables, name);
    this.known.add(`${name}_FILE`);
    try {
      return secretIn(this.variables, secret);
    } catch (error) {
      this.problems.push(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /**
   * Returns messages for misspelt variable names, whose settings would otherwise silently keep their defaults. Call it
   * after all settings were read.
   */
  unknownNames(): string[] {
    const names = [...this.known].filter((name) => name.startsWith('SVC_'));
    return Object.keys(this.variables).flatMap((name) => {
      const value = settingIn(this.variables, name);
      if (!name.startsWith('SVC_') || this.known.has(name) || value === undefined) return [];
      if (isServiceLink(name, value)) return [];
      const removedIn = REMOVED.get(name);
      if (removedIn !== undefined) return [`${name} was removed in ${removedIn}: delete it`];
      const near = nearestCode(name, names);
      return [
        `${name} is no setting${near === undefined ? ' (docs/reference/settings.md lists all)' : `: did you mean ${near}?`}`,
      ];
    });
  }

  matching(name: string, pattern: RegExp, description: string): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !pattern.test(value)) this.problems.push(`${name} must be ${description}`);
    return value;
  }

  integer<Fallback extends number | undefined>(
    name: string,
    fallback: Fallback,
    least: number,
    most: number,
  ): number | Fallback {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,12}$/.test(value) ? Number(value) : NaN;
    if (number >= least && number <= most) return number;
    this.problems.push(`${name} must be a whole number from ${least} to ${most}, not "${value}"`);
    return fallback;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.text(name);
    const choice = choices.find((known) => known === (value ?? fallback));
    if (choice === undefined) this.problems.push(`${name} must be one of ${choices.join(', ')}, not "${value ?? ''}"`);
    return choice ?? fallback;
  }

  isOn(name: string, fallback: boolean): boolean {
    return this.oneOf(name, ['on', 'off'], fallback ? 'on' : 'off') === 'on';
  }

  /** @param faultOf returns the fault of one part of the list; undefined if it has none */
  list(name: string, description: string, faultOf: (part: string) => string | undefined): readonly string[] {
    const parts = this.parts(name);
    for (const part of parts) {
      const fault = faultOf(part);
      if (fault !== undefined) this.problems.push(`${name} must list ${description}: "${part}" is none, ${fault}`);
    }
    return parts;
  }

  key(name: string): Buffer | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const key = Buffer.from(value, 'base64');
    // The message does not contain the value, a secret.
    if (key.length !== KEY_BYTES) this.problems.push(`${name} must be 32 bytes in base64 (openssl rand -base64 32)`);
    return key;
  }

  keys(name: string): readonly Buffer[] {
    const keys = this.parts(name).map((part) => Buffer.from(part, 'base64'));
    if (keys.some((key) => key.length !== KEY_BYTES))
      this.problems.push(`${name} must list keys of 32 bytes in base64, separated by commas`);
    return keys;
  }

  private parts(name: string): string[] {
    return (this.text(name) ?? '').split(/[\s,]+/).filter((part) => part !== '');
  }
}
