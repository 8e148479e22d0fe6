import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type ClonedDatabase } from '../../../testing/test-databases';
import { encryptionKey } from '../../../testing/test-app';
import { eventually } from '../../../testing/eventually';

type Output = 'pipe' | number;

describe('a log that cannot be written', () => {
  let database: ClonedDatabase;
  let child: ChildProcess;
  let url: string;

  async function start(output: Output): Promise<void> {
    database = await cloneDatabase('started');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    child = spawn(process.execPath, [join(process.env.TEST_BUILD ?? '', 'src', 'main.js')], {
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        HOST: '127.0.0.1',
        DATABASE_URL: database.url,
        SVC_ENCRYPTION_KEY: encryptionKey(),
        SVC_PROCESSES: '1',
      },
      stdio: ['ignore', output, output],
    });
    await eventually(
      'the server answers',
      () => {
        if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`);
        return fetch(`${url}/health`).catch(() => undefined);
      },
      60_000,
    );
  }

  afterEach(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    await database.drop();
  });

  /** Makes the server log a line: each refused token request logs a warning. */
  const writeLine = async (): Promise<number> =>
    (await fetch(`${url}/auth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'none' }) })).status;

  async function expectService(): Promise<void> {
    for (let line = 0; line < 3; line++) {
      expect(await writeLine()).toBeGreaterThanOrEqual(400);
      await delay(100);
    }
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }

  // Each write to /dev/full fails with ENOSPC.
  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux(
    'O3: on a full disk loses its lines and not the service',
    async () => {
      await start(openSync('/dev/full', 'w'));
      await expectService();
    },
    90_000,
  );

  it('O3: whose reader ended loses lines, but the server keeps running', async () => {
    await start('pipe');
    child.stdout?.destroy();
    child.stderr?.destroy();
    await expectService();
  }, 90_000);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
