/** Settings of postgresql.conf by name. */
export type PostgresSettings = Readonly<Record<string, string>>;

/** Reached by TCP on the loopback alone: the path of a Unix socket is limited to 107 bytes, and Windows has none. */
const reach: PostgresSettings = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };

const load: PostgresSettings = {
  shared_buffers: '256MB', // the default of 128MB is meant for any machine of the last thirty years
  jit: 'off', // compiling costs more than our short statements take
  random_page_cost: '1.1', // of an SSD; the default of 4 keeps the planner away from indexes
  max_wal_size: '4GB', // right after a checkpoint a write puts ten times its size into the WAL: make them rare
};

/** Error messages show the log, so it may hold no patient data: neither statements nor keys nor values. */
const log: PostgresSettings = {
  logging_collector: 'off',
  log_min_messages: 'log', // above WARNING and ERROR: sessions report those to their client
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse', // no DETAIL: "Key (…)=(…) already exists", "Failed process was running: …"
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
};

/**
 * Where the platform can tell that a client went away, a statement of a killed server ends soon, and so do its locks.
 */
const liveness: PostgresSettings = process.platform === 'win32' ? {} : { client_connection_check_interval: '500ms' };

/** Fast and forgetful: for data that may be lost in a crash. */
const forgetful: PostgresSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** Returns the command line of settings; those in `further` win over ours. */
export function settingsParameters(isDurable: boolean, further: PostgresSettings = {}): string[] {
  const settings = { ...reach, ...load, ...log, ...liveness, ...(isDurable ? {} : forgetful), ...further };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
