export type PostgresSettings = Readonly<Record<string, string>>;

/**
 * Settings of the listen address: only TCP on the loopback. A Unix socket is not used, since its path is limited to 107
 * bytes, and Windows has none.
 */
const reach: PostgresSettings = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };

const load: PostgresSettings = {
  shared_buffers: '256MB', // PostgreSQL's default, 128MB, is meant for very small machines too
  jit: 'off', // compiling costs more than it saves in short statements
  random_page_cost: '1.1', // for an SSD; with the default of 4 the planner avoids indexes
  max_wal_size: '4GB', // fewer checkpoints: after a checkpoint, a write first puts ten times its size into the WAL
};

/** Error messages of this server show the log, so it must not contain patient data: no statements, keys or values. */
const log: PostgresSettings = {
  logging_collector: 'off',
  log_min_messages: 'log', // above WARNING and ERROR, which sessions report to their clients
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse', // no DETAIL: "Key (…)=(…) already exists", "Failed process was running: …"
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
};

/**
 * On platforms that can detect a disconnected client, this setting soon ends the statements (and so the locks) of a
 * server that was killed.
 */
const liveness: PostgresSettings = process.platform === 'win32' ? {} : { client_connection_check_interval: '500ms' };

/** Settings without durability, for data that may be lost in a crash. */
const forgetful: PostgresSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Returns the settings as command-line parameters. Those in `further` override the defaults. */
export function settingsParameters(isDurable: boolean, further: PostgresSettings = {}): string[] {
  const settings = { ...reach, ...load, ...log, ...liveness, ...(isDurable ? {} : forgetful), ...further };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
