import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clusterHome } from '../../../src/platform/database/embedded/cluster';
import { ServerProcess, stopLines, stopLinesOf } from '../../support/server-process';

interface Credentials {
  readonly rootClientSecret: string;
  readonly adminPassword: string;
}

describe('a server with the embedded database', () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'svc-boot-'));
  const environment = { PORT: '0', DATA_DIR: dataDirectory };
  let server: ServerProcess;
  let firstOutput: string;

  beforeAll(async () => {
    // PostgreSQL does not run as root. Its account must be able to open the folder, or the cluster is created
    // elsewhere.
    chmodSync(dataDirectory, 0o755);
    server = await ServerProcess.start(environment);
    firstOutput = server.output;
  }, 90_000);
  afterAll(async () => {
    await server.end('SIGTERM');
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  /** Uses the server that the previous test left running, if it did. */
  const serverRuns = async (): Promise<void> => {
    if (!server.isRunning) server = await ServerProcess.start(environment);
  };

  const credentials = (): Credentials =>
    JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8')) as Credentials;
  const authorization = (): string =>
    `Basic ${Buffer.from(`root:${credentials().rootClientSecret}`).toString('base64')}`;
  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method,
      // A server that stops waits a second for idle connections.
      headers: { Authorization: authorization(), 'Content-Type': 'application/json', Connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  const postmasterPid = (): number =>
    Number(readFileSync(join(clusterHome(dataDirectory), 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);

  /** Processes of the cluster in this data directory only. */
  const clusterProcesses = (): string[] =>
    execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(clusterHome(dataDirectory)) && line.includes('postgres'));

  it('starts with an empty folder, shows its secrets, and refuses a second server of the folder', async () => {
    const { rootClientSecret, adminPassword } = credentials();
    expect(firstOutput).toContain(rootClientSecret);
    expect(firstOutput).toContain(adminPassword);
    expect(statSync(join(dataDirectory, 'credentials.json')).mode & 0o777).toBe(0o600);
    expect(await (await send('GET', '/health')).json()).toMatchObject({ status: 'pass' });
    expect((await send('GET', '/User/admin')).status).toBe(200);
    expect(clusterProcesses()).not.toEqual([]);

    const second = await ServerProcess.startAndFail(environment);
    expect(second.exitCode).toBe(1);
    expect(second.output).toContain(dataDirectory);
  }, 60_000);

  it('keeps every acknowledged write after kill -9 of server and database, and does not show the secrets again', async () => {
    await serverRuns();
    const acknowledged: string[] = [];
    const killed = new AbortController();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; !killed.signal.aborted; n++) {
        const id = `kill-${writer}-${n}`;
        const answer = await send('PUT', `/fhir/Patient/${id}`, {
          resourceType: 'Patient',
          id,
          multipleBirthInteger: n,
        }).catch(() => undefined);
        if (answer?.status === 201 && acknowledged.push(id) === 100) {
          killed.abort();
          process.kill(postmasterPid(), 'SIGKILL');
          await server.end('SIGKILL');
        }
      }
    });
    await Promise.all(writers);
    server = await ServerProcess.start(environment);
    expect(server.output).not.toContain(credentials().rootClientSecret);
    for (const id of acknowledged) expect([id, (await send('GET', `/fhir/Patient/${id}`)).status]).toEqual([id, 200]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);
  }, 90_000);

  it('restarts only with its credentials, and does not recreate the deleted Client of the console', async () => {
    const grant = new URLSearchParams({ grant_type: 'password', client_id: 'console', username: 'admin' });
    grant.set('password', credentials().adminPassword);
    const signIn = (): Promise<Response> =>
      fetch(`${server.url}/auth/token`, { method: 'POST', headers: { Connection: 'close' }, body: grant });
    await serverRuns();
    const client = (await (await send('GET', '/Client/console')).json()) as object;
    expect(client).toMatchObject({
      grant_types: ['password'],
      auth: { password: { token_expiration: 600, refresh_token: true } },
    });
    expect(client).not.toHaveProperty('secret');
    expect(await (await signIn()).json()).toMatchObject({ expires_in: 600, refresh_token: expect.any(String) });
    expect((await send('DELETE', '/Client/console')).status).toBe(200);

    // The server stops with all that it started, and starts again only with the credentials of its database.
    expect(await server.end('SIGTERM')).toBe(0);
    expect(stopLinesOf(server.output)).toEqual(stopLines(25));
    expect(clusterProcesses()).toEqual([]);
    const path = join(dataDirectory, 'credentials.json');
    renameSync(path, `${path}.moved`);
    const { exitCode, output } = await ServerProcess.startAndFail(environment);
    expect([exitCode, existsSync(path)]).toEqual([1, false]);
    expect(output).toMatch(/^\S+credentials\.json is missing, .*restore the file.*\n$/);

    renameSync(`${path}.moved`, path);
    server = await ServerProcess.start(environment);
    expect((await send('GET', '/User/admin')).status).toBe(200);
    expect([(await send('GET', '/Client/console')).status, (await signIn()).status]).toEqual([410, 401]);
  }, 90_000);

  it('ends when its database ends, so that a supervisor restarts it', async () => {
    await serverRuns();
    process.kill(postmasterPid(), 'SIGKILL');
    expect(await server.ended()).toBe(1);
    expect(server.output).toContain('The embedded database ended');
    server = await ServerProcess.start(environment);
    expect(await server.end('SIGTERM')).toBe(0);
  }, 60_000);
});

describe('wrong settings', () => {
  it('stop the start, and the error names all', async () => {
    const { exitCode, output } = await ServerProcess.startAndFail({
      PORT: 'http',
      DATABASE_URL: 'mysql://x',
      SVC_TRIAL_POLICY: 'maybe',
      SVC_ENCRYPTION_KEY: 'short-secret',
    });
    expect(exitCode).toBe(1);
    for (const name of ['PORT', 'DATABASE_URL', 'SVC_TRIAL_POLICY', 'SVC_ENCRYPTION_KEY'])
      expect(output).toContain(name);
    expect(output).not.toContain('short-secret');
  });

  it('are reported if an external database has no encryption key', async () => {
    const { exitCode, output } = await ServerProcess.startAndFail({
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    });
    expect([exitCode, output]).toEqual([1, expect.stringContaining('SVC_ENCRYPTION_KEY')]);
  });
});
