import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../errors/start-error';
import { findPostmasterPid, postmasterPidPath } from './postmaster-pid-file';
import { FAST_SHUTDOWN } from './postmaster';
import { isAlive, readCommandLine } from './process-by-id';
import { isSystemError } from '../../errors/system-error';

/** A shutdown writes a checkpoint: up to all of shared_buffers goes to the disk. */
const SHUTDOWN_SECONDS = 60;

/**
 * Ends the server that outlived its killed parent, if there is one, and removes a pid file that PostgreSQL would
 * stumble over. Call it only with the data directory taken: then no process uses that server.
 * @throws StartError when it does not end within a minute.
 */
export async function endLeftoverPostmaster(clusterFolder: string): Promise<void> {
  const file = await findPostmasterPid(clusterFolder);
  if (!file) return;
  const { pid } = file;
  // Without the file PostgreSQL could not see that backends of a killed postmaster still run: it judges a dead pid
  // itself.
  if (pid > 0 && !isAlive(pid)) return;
  if (await isPostmaster(pid, clusterFolder)) await endPostmaster(pid, clusterFolder);
  // A file that is still there was cut short by a crash, or its pid belongs to a stranger by now, or to a zombie.
  await rm(postmasterPidPath(clusterFolder), { force: true });
}

/**
 * The postmaster keeps the command line that `startPostmaster` gave it, its children show another title, and a zombie
 * that no parent has collected shows none.
 */
async function isPostmaster(pid: number, clusterFolder: string): Promise<boolean> {
  return (await readCommandLine(pid)).includes(` -D ${clusterFolder} -p `);
}

async function endPostmaster(pid: number, clusterFolder: string): Promise<void> {
  try {
    process.kill(pid, FAST_SHUTDOWN);
  } catch (error) {
    if (!isSystemError(error, 'ESRCH')) throw error; // it has ended by itself
  }
  const deadline = performance.now() + SHUTDOWN_SECONDS * 1000;
  while (await isPostmaster(pid, clusterFolder)) {
    if (performance.now() > deadline) {
      throw new StartError(`PostgreSQL (process ${pid}) of an earlier start does not end. End it, then start again.`);
    }
    await sleep(20);
  }
}
