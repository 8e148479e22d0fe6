import { once } from 'node:events';
import { mkdir, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { StartError } from '../../errors/start-error';
import { isSystemError, systemCodeOf } from '../../errors/system-error';
import { reasonOf } from '../database-client';

/** A running process uses the data directory. */
export class DirectoryInUseError extends StartError {}

const UNUSABLE = new Set(['EACCES', 'EDQUOT', 'EMFILE', 'ENOSPC', 'EPERM', 'EROFS']);

/**
 * Returns the error with a message for a file that cannot be written to the data directory: a full or read-only disk,
 * or a folder of another account. Returns undefined for other errors.
 */
export function dataDirectoryRefusal(path: string, error: unknown): StartError | undefined {
  if (!UNUSABLE.has(systemCodeOf(error) ?? '')) return undefined;
  const message = `The data directory ${path} cannot be written: ${reasonOf(error)}. Give this account space and rights there, or set DATA_DIR to another folder.`;
  return new StartError(message, { cause: error });
}

/**
 * Locks the folder at `path` (created if missing) for this process, until the release or the end of the process.
 * @returns the function that releases the folder
 * @throws StartError if the folder cannot be created, DirectoryInUseError if a running process, including this one, has
 * locked it
 */
export async function takeDataDirectory(path: string): Promise<() => Promise<void>> {
  await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    const message = `The data directory cannot be made: ${reasonOf(cause)}. Set DATA_DIR to a folder that this account may write to.`;
    throw new StartError(message, { cause });
  });
  // The lock is named after the folder itself, not its path. So all paths to the folder (symbolic links, bind mounts,
  // other letter case) lead to the same lock.
  const { dev, ino } = await stat(path, { bigint: true });
  const lock = await listen(socketOf(`svc-health-server-${dev.toString()}-${ino.toString()}`));
  if (!lock)
    throw new DirectoryInUseError(
      `${path} is in use by another running server. Stop it, or set DATA_DIR to another folder.`,
    );
  lock.unref();
  return async () => {
    if (!lock.listening) return;
    lock.close();
    await once(lock, 'close');
  };
}

/**
 * Returns the socket that serves as a lock. A file with a pid would not be reliable, since pids are reused. The kernel
 * frees a socket with its process, even after kill -9.
 */
function socketOf(name: string): string {
  switch (process.platform) {
    case 'linux':
      // An abstract name leaves no stale file (unix(7)). Node 20 pads such a name to the full length, and Node 22 does
      // not. So the name has the full length, and is the same lock for both.
      return `\0${name.padEnd(107, '.')}`;
    case 'win32':
      return `\\\\.\\pipe\\${name}`;
    default:
      return `/tmp/${name}.sock`;
  }
}

/** Listens on the socket. Returns undefined if another process does. */
async function listen(socket: string): Promise<Server | undefined> {
  try {
    return await bind(socket);
  } catch (error) {
    if (!isSystemError(error, 'EADDRINUSE')) throw error;
    if (!socket.startsWith('/') || (await isAnswered(socket))) return undefined;
    await rm(socket, { force: true });
    return bind(socket);
  }
}

async function bind(socket: string): Promise<Server> {
  const server = createServer((visitor) => visitor.destroy()).listen(socket);
  await once(server, 'listening');
  return server;
}

async function isAnswered(socket: string): Promise<boolean> {
  const visitor = connect(socket);
  try {
    await once(visitor, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    visitor.destroy();
  }
}
