import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isSystemError } from '../../errors/system-error';

const run = promisify(execFile);

/** Whether a process of any account has this id. */
export function isAlive(pid: number): boolean {
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
