import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../errors/start-error';
import { findPostmasterPid, postmasterPidPath } from './postmaster-pid-file';
import { FAST_SHUTDOWN } from './postmaster';
import { isAlive, readCommandLine } from './process-by-id';
import { isSystemError } from '../../errors/system-error';

/** How long a shutdown may take. It writes a checkpoint, so up to all of shared_buffers is written to the disk. */
const SHUTDOWN_SECONDS = 60;

/**
 * Ends a PostgreSQL server that still runs although the process that started it was killed. Also removes a stale pid
 * file, which would keep PostgreSQL from starting. Call it only while the data directory is locked: then no process
 * uses that server.
 * @throws StartError if the server does not end within a minute
 */
export async function endLeftoverPostmaster(clusterFolder: string): Promise<void> {
  const file = await findPostmasterPid(clusterFolder);
  if (!file) return;
  const { pid } = file;
  // The file of a dead pid is kept. PostgreSQL checks such a pid itself, and needs the file to detect running backends
  // of a killed postmaster.
  if (pid > 0 && !isAlive(pid)) return;
  if (await isPostmaster(pid, clusterFolder)) await endPostmaster(pid, clusterFolder);
  // A file that still exists here is incomplete after a crash, or its pid now belongs to another process or to a
  // zombie.
  await rm(postmasterPidPath(clusterFolder), { force: true });
}

/** Only the postmaster has the command line of `startPostmaster`: its children have another title, a zombie none. */
export async function isPostmaster(pid: number, clusterFolder: string): Promise<boolean> {
  return (await readCommandLine(pid)).includes(` -D ${clusterFolder} -p `);
}

async function endPostmaster(pid: number, clusterFolder: string): Promise<void> {
  try {
    process.kill(pid, FAST_SHUTDOWN);
  } catch (error) {
    if (!isSystemError(error, 'ESRCH')) throw error; // ESRCH: the process has already ended
  }
  const deadline = performance.now() + SHUTDOWN_SECONDS * 1000;
  while (await isPostmaster(pid, clusterFolder)) {
    if (performance.now() > deadline) {
      throw new StartError(`PostgreSQL (process ${pid}) of an earlier start does not end. End it, then start again.`);
    }
    await sleep(20);
  }
}
