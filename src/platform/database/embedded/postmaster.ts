import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../errors/start-error';
import { type PostgresAccount } from './postgres-account';
import { type PostgresBinaries } from './postgres-binaries';
import { firstErrorIn, postgresEnvironment } from './postgres-program';
import { findPostmasterPid } from './postmaster-pid-file';

/** How long PostgreSQL may take until it is ready. After a crash it replays WAL, up to max_wal_size. */
const READY_SECONDS = 180;
const READY_POLL_SECONDS = 0.015;

/**
 * Messages after which another start may succeed: another process took the port meanwhile, or backends of a killed
 * postmaster are still ending.
 */
const passingTrouble = /could not bind|pre-existing shared memory block/;
const PASSING_TROUBLE_SECONDS = 30;

/** How long a fast shutdown may take. It writes a checkpoint, so up to all of shared_buffers is written to the disk. */
const STOP_SECONDS = 60;

/** How long an immediate shutdown may take. PostgreSQL kills its processes that ignore the shutdown for 5 seconds. */
const IMMEDIATE_STOP_SECONDS = 10;

/**
 * The signal for a fast shutdown, which rolls open transactions back and writes everything to the disk. Windows has no
 * signals: PostgreSQL ends at once there, and the next start replays the WAL.
 */
export const FAST_SHUTDOWN = 'SIGINT';

/** How many characters of the log are kept, enough for the last messages of a server. */
const LOG_TAIL_LENGTH = 4096;

/** The parameters for starting PostgreSQL. `settings` are command-line parameters. */
export interface PostmasterCommand {
  readonly binaries: PostgresBinaries;
  readonly account: PostgresAccount | undefined;
  readonly clusterFolder: string;
  readonly settings: readonly string[];
  readonly log: (line: string) => void;
}

/**
 * Starts PostgreSQL on a port that the kernel selects, and waits until it accepts connections.
 * @throws StartError with the end of the log, if PostgreSQL does not start
 */
export async function startPostmaster(command: PostmasterCommand): Promise<Postmaster> {
  const deadline = performance.now() + PASSING_TROUBLE_SECONDS * 1000;
  for (;;) {
    const postmaster = new Postmaster(command, await findFreePort());
    try {
      if (await postmaster.becomesReady()) return postmaster;
    } catch (error) {
      await postmaster.stop();
      throw error;
    }
    if (!passingTrouble.test(postmaster.logTail) || performance.now() > deadline) {
      const reason = firstErrorIn(postmaster.logTail) ?? 'it gave no reason';
      throw new StartError(`PostgreSQL did not start: ${reason}. The end of its log:\n${postmaster.logTail}`);
    }
    await sleep(200);
  }
}

/** A running PostgreSQL: the parent of all its processes. */
export class Postmaster {
  logTail = '';
  private readonly child: ChildProcess;
  private isStopping = false;
  private readonly ended: Promise<void>;
  /** Resolves if PostgreSQL ends without a call of `stop`. */
  readonly lost: Promise<void>;

  constructor(
    private readonly command: PostmasterCommand,
    readonly port: number,
  ) {
    const { binaries, account, clusterFolder, settings } = command;
    // A later start identifies this server by the order and spelling of these first parameters
    // (leftover-postmaster.ts).
    this.child = spawn(binaries.postgres, ['-D', clusterFolder, '-p', String(port), ...settings], {
      ...postgresEnvironment,
      ...account,
      stdio: ['ignore', 'ignore', 'pipe'],
      // PostgreSQL gets a separate process group. Ctrl-C must reach only this process, which closes the pool before it
      // stops PostgreSQL.
      detached: process.platform !== 'win32',
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.logTail = (this.logTail + text).slice(-LOG_TAIL_LENGTH);
    });
    // The event is "close", not "exit": at "close" the log is complete, and the other processes that share the standard
    // error have ended too.
    this.ended = new Promise((resolve) => {
      this.child
        .once('error', (error) => (this.logTail += error.message))
        .once('close', () => {
          resolve();
        });
    });
    this.lost = new Promise((resolve) => {
      void this.ended.then(() => {
        if (!this.isStopping) resolve();
      });
    });
  }

  /** Waits until PostgreSQL accepts connections; false if it ended instead. */
  async becomesReady(): Promise<boolean> {
    const deadline = performance.now() + READY_SECONDS * 1000;
    while (!(await this.saysReady())) {
      if (await this.endsWithin(READY_POLL_SECONDS)) return false;
      if (performance.now() > deadline) {
        throw new StartError(`PostgreSQL was not ready within ${READY_SECONDS} seconds:\n${this.logTail}`);
      }
    }
    this.keepNode('unref');
    void this.lost.then(() => {
      this.command.log(`PostgreSQL ended unexpectedly:\n${this.logTail}`);
    });
    return true;
  }

  /** Stops PostgreSQL and waits for the end of all its processes. Does nothing if it has already ended. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.keepNode('ref');
    this.child.kill(FAST_SHUTDOWN);
    if (await this.endsWithin(STOP_SECONDS)) return;
    // The immediate shutdown writes no checkpoint. Nothing is lost, since the next start replays the WAL.
    this.child.kill('SIGQUIT');
    await this.endsWithin(IMMEDIATE_STOP_SECONDS);
  }

  private endsWithin(seconds: number): Promise<boolean> {
    return Promise.race([this.ended.then(() => true), sleep(seconds * 1000, false, { ref: false })]);
  }

  /** Whether the pid file says that PostgreSQL is ready; `pg_ctl --wait` reads it too. */
  private async saysReady(): Promise<boolean> {
    const file = await findPostmasterPid(this.command.clusterFolder);
    return file?.pid === this.child.pid && file?.isReady === true;
  }

  /**
   * Sets whether PostgreSQL keeps this process alive. It must not if the process has no other work, except while the
   * process waits for PostgreSQL to stop.
   */
  private keepNode(change: 'ref' | 'unref'): void {
    this.child[change]();
    if (this.child.stderr instanceof Socket) this.child.stderr[change]();
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
