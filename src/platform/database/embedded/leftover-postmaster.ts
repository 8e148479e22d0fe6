import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from '../../errors/start-error';
import { isSystemError } from '../../errors/system-error';
import { FAST_SHUTDOWN } from './postmaster';
import { findPostmasterPid, postmasterPidPath } from './postmaster-pid-file';

const run = promisify(execFile);

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

/** Whether a process of any account has this id. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isSystemError(error, 'EPERM');
  }
}

/** The program and parameters of a process, joined by spaces and without quotes; empty if it does not exist. */
export async function readCommandLine(pid: number): Promise<string> {
  try {
    switch (process.platform) {
      case 'linux': // slim images have no `ps`
        return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
      case 'win32': {
        const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`;
        return (await run('powershell', ['-NoProfile', '-Command', query])).stdout.replaceAll('"', '');
      }
      default:
        return (await run('ps', ['-o', 'command=', '-ww', '-p', String(pid)])).stdout;
    }
  } catch {
    return '';
  }
}
