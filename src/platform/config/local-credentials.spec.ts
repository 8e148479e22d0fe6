import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Environment, readEnvironment } from './environment';
import { completeCredentials } from './local-credentials';

describe(completeCredentials, () => {
  let folder: string;
  let logged: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-credentials-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  function complete(variables: Record<string, string> = {}, isNew = true): Promise<Environment> {
    logged = [];
    const environment = readEnvironment({ DATA_DIR: folder, ...variables });
    return completeCredentials(
      environment,
      (line) => logged.push(line),
      () => Promise.resolve(isNew),
    );
  }
  const path = (): string => join(folder, 'credentials.json');

  it('generates credentials at the first start, and logs secret and password only then', async () => {
    const { rootClientSecret, adminPassword, encryptionKey } = await complete();
    expect([rootClientSecret, adminPassword, encryptionKey?.length]).toEqual([
      expect.stringMatching(/^[\w-]{32}$/),
      expect.stringMatching(/^[\w-]{16}$/),
      32,
    ]);
    expect(logged.join('\n')).toContain(rootClientSecret);
    expect(logged.join('\n')).toContain(adminPassword);
    expect(logged.join('\n')).not.toContain(encryptionKey?.toString('base64'));
  });

  it('keeps the credentials, and logs only their path at later starts', async () => {
    const first = await complete();
    const second = await complete();
    expect(second).toEqual(first);
    expect(logged).toEqual([expect.stringContaining(path())]);
    expect(logged[0]).not.toContain(first.rootClientSecret);
  });

  it('stores the credentials in one file that only its owner can read', async () => {
    await complete();
    const { mode } = await stat(path());
    expect([mode & 0o777, await readdir(folder)]).toEqual([0o600, ['credentials.json']]);
  });

  it('prefers the variables of the environment at every start', async () => {
    const key = Buffer.alloc(32, 7);
    const set = {
      SVC_ROOT_CLIENT_SECRET: 'set secret',
      SVC_ADMIN_PASSWORD: 'set password',
      SVC_ENCRYPTION_KEY: key.toString('base64'),
    };
    const expected = { rootClientSecret: 'set secret', adminPassword: 'set password', encryptionKey: key };
    await complete();
    expect(await complete(set)).toMatchObject(expected);
  });

  it('S9: logs no secret of the environment, not even at the first start', async () => {
    const { adminPassword } = await complete({ SVC_ROOT_CLIENT_SECRET: 'set secret' });
    expect(logged.join('\n')).not.toContain('set secret');
    expect(logged.join('\n')).toContain(adminPassword);
    await rm(path());
    await complete({ SVC_ROOT_CLIENT_SECRET: 'set secret', SVC_ADMIN_PASSWORD: 'set password' });
    expect(logged).toEqual([expect.stringContaining(path())]);
  });

  it('keeps a key that the environment set at the first start', async () => {
    const key = Buffer.alloc(32, 7);
    await complete({ SVC_ENCRYPTION_KEY: key.toString('base64') });
    expect((await complete()).encryptionKey).toEqual(key);
  });

  it('does not replace a file that it cannot read, since its key would be lost', async () => {
    await writeFile(path(), '{"rootClientSecret":');
    await expect(complete()).rejects.toThrow('restore the file');
    expect(await readFile(path(), 'utf8')).toBe('{"rootClientSecret":');
  });

  it('generates no credentials for a database that contains secrets, since they would not match', async () => {
    const some = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'), SVC_ADMIN_PASSWORD: 'set password' };
    for (const given of [{}, some]) {
      await expect(complete(given, false)).rejects.toThrow(`${path()} is missing`);
      expect([logged, await readdir(folder)]).toEqual([[], []]);
    }
    const all = { ...some, SVC_ROOT_CLIENT_SECRET: 'set secret' };
    expect(await complete(all, false)).toMatchObject({ rootClientSecret: 'set secret', adminPassword: 'set password' });
  });
});
