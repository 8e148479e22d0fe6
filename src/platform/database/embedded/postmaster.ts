import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../errors/start-error';
import { type PostgresAccount } from './postgres-account';
import { type PostgresBinaries } from './postgres-binaries';
import { postgresEnvironment } from './postgres-program';
import { findPostmasterPid } from './postmaster-pid-file';

/** After a crash it replays up to max_wal_size before it is ready. */
const READY_SECONDS = 180;

/** Another process took the port meanwhile, or backends of a killed postmaster are about to notice its death. */
const passingTrouble = /could not bind|pre-existing shared memory block/;
const PASSING_TROUBLE_SECONDS = 30;

/** A shutdown writes a checkpoint: up to all of shared_buffers goes to the disk. */
const STOP_SECONDS = 60;

/** PostgreSQL itself kills what has not followed an immediate shutdown for 5 seconds. */
const IMMEDIATE_STOP_SECONDS = 10;

/**
 * Rolls open transactions back, writes everything down and ends. Windows has no signals: there it ends at once, and the
 * next start replays the WAL.
 */
export const FAST_SHUTDOWN = 'SIGINT';

/** Enough for the last words of a server. */
const LOG_TAIL_LENGTH = 4096;

/** `settings` are parameters of the command line. */
export interface PostmasterCommand {
  readonly binaries: PostgresBinaries;
  readonly account: PostgresAccount | undefined;
  readonly clusterFolder: string;
  readonly settings: readonly string[];
  readonly log: (line: string) => void;
}

/**
 * Starts PostgreSQL on a port that the kernel picks, and waits until it takes connections.
 * @throws StartError with the end of its log when it does not start.
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
      throw new StartError(`PostgreSQL did not start:\n${postmaster.logTail}`);
    }
    await sleep(200);
  }
}

/** A running PostgreSQL: its first process, of which all others are children. */
export class Postmaster {
  /** The end of what it wrote to its log, at most 4 kB. */
  logTail = '';
  private readonly child: ChildProcess;
  private hasEnded = false;
  private isStopping = false;
  private readonly ended: Promise<void>;
  /** Settles when PostgreSQL ended without a call of `stop`. */
  readonly lost: Promise<void>;

  constructor(
    private readonly command: PostmasterCommand,
    readonly port: number,
  ) {
    const { binaries, account, clusterFolder, settings } = command;
    // Order and spelling of the first parameters are how a later start knows its own (leftover-postmaster.ts).
    this.child = spawn(binaries.postgres, ['-D', clusterFolder, '-p', String(port), ...settings], {
      ...postgresEnvironment,
      ...account,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Ctrl-C goes to the whole process group: it shall reach us, who close the pool first and then stop the server.
      detached: process.platform !== 'win32',
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.logTail = (this.logTail + text).slice(-LOG_TAIL_LENGTH);
    });
    // "close" and not "exit": then its log is complete, and the processes that share its standard error are gone too.
    this.ended = new Promise((resolve) => {
      this.child
        .once('error', (error) => (this.logTail += error.message))
        .once('close', () => {
          this.hasEnded = true;
          resolve();
        });
    });
    this.lost = new Promise((resolve) => {
      void this.ended.then(() => {
        if (!this.isStopping) resolve();
      });
    });
  }

  /** Waits for the server; false when it ended instead. */
  async becomesReady(): Promise<boolean> {
    const deadline = performance.now() + READY_SECONDS * 1000;
    while (!(await this.saysReady())) {
      if (this.hasEnded) return false;
      if (performance.now() > deadline) {
        throw new StartError(`PostgreSQL was not ready within ${READY_SECONDS} seconds:\n${this.logTail}`);
      }
      await sleep(15);
    }
    this.letNodeEnd();
    void this.lost.then(() => {
      this.command.log(`PostgreSQL ended unexpectedly:\n${this.logTail}`);
    });
    return true;
  }

  /** Stops the server and waits until all of its processes are gone; does nothing when it ended already. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.keepNode();
    this.child.kill(FAST_SHUTDOWN);
    if (await this.endsWithin(STOP_SECONDS)) return;
    // "Immediate": without a checkpoint. Nothing is lost, the next start replays the WAL.
    this.child.kill('SIGQUIT');
    await this.endsWithin(IMMEDIATE_STOP_SECONDS);
  }

  private endsWithin(seconds: number): Promise<boolean> {
    return Promise.race([this.ended.then(() => true), sleep(seconds * 1000, false, { ref: false })]);
  }

  /** The pid file says so, as it does to `pg_ctl --wait`. */
  private async saysReady(): Promise<boolean> {
    const file = await findPostmasterPid(this.command.clusterFolder);
    return file?.pid === this.child.pid && file?.isReady === true;
  }

  /** The server must not keep a process alive that has nothing else to do … */
  private letNodeEnd(): void {
    this.child.unref();
    if (this.child.stderr instanceof Socket) this.child.stderr.unref();
  }

  /** … unless that process waits for the server to stop. */
  private keepNode(): void {
    this.child.ref();
    if (this.child.stderr instanceof Socket) this.child.stderr.ref();
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
