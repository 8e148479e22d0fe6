import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Environment } from '../config/environment';
import { StartError } from '../errors/start-error';
import { systemCodeOf } from '../errors/system-error';

/**
 * Checks that the ports are free. This is the first step of a start, so that a start whose port is in use creates no
 * data folder.
 * @throws StartError that names the setting of the port
 */
export async function assertPortsFree({ port, host, metricsPort, metricsHost }: Environment): Promise<void> {
  await assertFree('PORT', port, host);
  if (metricsPort !== undefined) await assertFree('SVC_METRICS_PORT', metricsPort, metricsHost);
}

async function assertFree(setting: string, port: number, host: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  } catch (error) {
    throw portRefusal(setting, error) ?? error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this account may not listen there',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the host name is not known',
};

/** The error for a failed listen(); undefined for other errors. */
export function portRefusal(setting: string, error: unknown): StartError | undefined {
  const reason = REASONS[systemCodeOf(error) ?? ''];
  if (reason === undefined || !(error instanceof Error)) return undefined;
  const hostSetting = setting === 'PORT' ? 'HOST' : 'SVC_METRICS_HOST';
  return new StartError(`${error.message} (${reason}). Set ${setting} or ${hostSetting} to another one.`, {
    cause: error,
  });
}
