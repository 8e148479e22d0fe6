import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { APPEND_ENTRY } from '../../../src/addendum/chain/addendum-statements';
import { auditAddenda, type Finding } from '../../../tools/audit-addenda/audit';
import { type Head, HeadWriter, readHeads } from '../../../tools/audit-addenda/head-list';
import { eventually } from '../../../testing/eventually';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const user = { id: 'doc-1', resourceType: 'User' };

describe('the tool audit-addenda', () => {
  let app: TestApp;
  let database: Client;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-heads-'));
    app = await startTestApp();
    database = await app.connect();
    await database.query('set session_replication_role = replica'); // disables triggers
    for (const id of ['a', 'a-b', 'b', 'c', 'empty']) {
      const target = { id, resourceType: 'SDCDocument' };
      await app.put(`/SDCDocument/${id}`, { ...target, status: 'completed' });
      if (id !== 'empty') for (const text of ['one', 'two', 'three']) await add(target, text);
    }
    await rpc('create-amendment', { target: { id: 'empty', resourceType: 'SDCDocument' }, user }); // stores no addendum
    await app.put('/SDCWorkflow/w', { status: 'completed' });
    await add({ id: 'w', resourceType: 'SDCWorkflow' }, 'one');
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const rpc = (method: string, params: object): Promise<{ status: number }> =>
    app.post('/rpc', { method: `svc.sdc.addendum/${method}`, params });
  const add = async (target: object, text: string): Promise<void> => {
    const { status } = await rpc('add-comment', { target, user, text });
    if (status !== 200) throw new Error(`Status ${status}`);
  };

  async function run(since?: string): Promise<{ heads: Head[]; findings: Finding[]; chains: number; seen: number }> {
    const heads: Head[] = [];
    const findings: Finding[] = [];
    let [seen, total] = [0, 0];
    const { chains } = await auditAddenda({
      databaseUrl: app.databaseUrl,
      ...(since === undefined ? {} : { since: readHeads(since) }),
      progress: { begin: (count) => (total = count), advance: () => seen++ },
      onHead: (head) => {
        heads.push(head);
        return Promise.resolve();
      },
      onFinding: (finding) => findings.push(finding),
    });
    expect(seen).toBe(total);
    return { heads, findings, chains, seen };
  }
  async function keep(heads: readonly Head[]): Promise<string> {
    const path = join(folder, 'heads');
    const writer = await HeadWriter.open(path);
    for (const head of heads) await writer.write(head);
    await writer.keep();
    return path;
  }
  /** Runs `work` with manual changes in the database, then restores it. */
  async function changed<T>(sql: string, work: () => Promise<T>): Promise<T> {
    const tables = ['addendum_entry', 'addendum_target', 'resource'];
    for (const table of tables) await database.query(`create table kept_${table} as table ${table}`);
    try {
      await database.query(sql);
      return await work();
    } finally {
      for (const table of tables) {
        await database.query(
          `delete from ${table}; insert into ${table} select * from kept_${table}; drop table kept_${table}`,
        );
      }
    }
  }

  it('verifies all chains and writes the head of each, in a fixed order', async () => {
    const { heads, findings, seen } = await run();
    expect(findings).toEqual([]);
    expect(heads.map(({ target, length }) => `${target} ${length}`)).toEqual([
      'SDCDocument/a 3',
      'SDCDocument/a-b 3',
      'SDCDocument/b 3',
      'SDCDocument/c 3',
      'SDCWorkflow/w 1',
    ]);
    expect(seen).toBe(13);
    const { result } = JSON.parse(
      (
        await app.post('/rpc', {
          method: 'svc.sdc.addendum/verify',
          params: { target: { id: 'b', resourceType: 'SDCDocument' } },
        })
      ).text,
    ) as { result: Head };
    expect(heads[2]?.head).toBe(result.head);
  });

  it('finds no fault if chains grew after their heads were kept', async () => {
    const path = await keep((await run()).heads);
    await add({ id: 'b', resourceType: 'SDCDocument' }, 'four');
    expect((await run(path)).findings).toEqual([]);
  });

  it('exits with 2, not with the 1 for a broken chain, if its output cannot be written', async () => {
    const script = join(process.env.TEST_BUILD ?? '', 'tools/audit-addenda/audit-addenda.js');
    const env = { PATH: process.env.PATH, DATABASE_URL: app.databaseUrl };
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(errors).toMatch(/; 0 faults\.\nLines of the output are lost: write EPIPE\n$/);
  });

  it('keeps one complete list of heads if two audits write it concurrently', async () => {
    const path = join(folder, 'both');
    const writers = [await HeadWriter.open(path), await HeadWriter.open(path)];
    const { heads } = await run();
    for (const writer of writers) for (const head of heads) await writer.write(head);
    for (const writer of writers) await writer.keep();
    expect(
      (await readFile(path, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Head),
    ).toEqual(heads);
  });

  it('leaves no unfinished list of heads after Ctrl-C', async () => {
    const script = join(process.env.TEST_BUILD ?? '', 'tools/audit-addenda/audit-addenda.js');
    const env = { PATH: process.env.PATH, DATABASE_URL: app.databaseUrl };
    await database.query('begin; lock table addendum_entry in access exclusive mode');
    try {
      const child = spawn(process.execPath, [script, '--heads', join(folder, 'cut')], { env, stdio: 'ignore' });
      const isCut = async (): Promise<boolean> => (await readdir(folder)).some((name) => name.startsWith('cut'));
      await eventually('the list is begun', isCut, 30_000);
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(await isCut()).toBe(false);
    } finally {
      await database.query('rollback');
    }
  }, 60_000);

  const entry = (id: string, sequence: number): string => `target_id = '${id}' and sequence = ${sequence}`;
  const cutOff = (id: string, sequence: number): string => `
    delete from resource where id = (select addendum_id from addendum_entry where ${entry(id, sequence)});
    delete from addendum_entry where ${entry(id, sequence)};
    update addendum_target set last_sequence = ${sequence - 1},
      head_hash = (select link_hash from addendum_entry where ${entry(id, sequence - 1)}) where target_id = '${id}'`;

  it.each<[what: string, sql: string, found: object[]]>([
    [
      'a changed text',
      `update resource set body = replace(body, 'two', 'too') where id = (select addendum_id from addendum_entry where ${entry('b', 2)})`,
      [{ target: 'SDCDocument/b', sequence: 2, reason: 'changed-text' }],
    ],
    [
      'a removed link, and a removed addendum',
      `delete from addendum_entry where ${entry('a-b', 2)};
       delete from resource where id = (select addendum_id from addendum_entry where ${entry('c', 1)})`,
      [
        { target: 'SDCDocument/a-b', sequence: 2, reason: 'missing-link' },
        { target: 'SDCDocument/c', sequence: 1, reason: 'missing-addendum' },
        { target: 'SDCDocument/a-b', reason: 'no-link' },
      ],
    ],
    ['a removed row of a target', `delete from addendum_target where target_id = 'a'`, [{ reason: 'missing-head' }]],
    [
      'an addendum outside any chain',
      `update resource set body = replace(body, '"w"', '"w2"'), id = 'forged' where id = (select addendum_id from addendum_entry where ${entry('w', 1)})`,
      [
        { target: 'SDCWorkflow/w', reason: 'missing-addendum' },
        { target: 'SDCWorkflow/w2', addendum: 'forged', reason: 'no-link' },
      ],
    ],
    [
      'a second version of an addendum',
      `update resource set version = 2 where id = (select addendum_id from addendum_entry where ${entry('b', 2)})`,
      [{ target: 'SDCDocument/b', sequence: 2, reason: 'other-version' }],
    ],
  ])('finds %s', async (_what, sql, found) => {
    const { findings, heads } = await changed(sql, () => run());
    expect(findings).toEqual(found.map((one) => expect.objectContaining(one) as unknown));
    expect(heads.map(({ target }) => target)).not.toContain(findings[0]?.target);
  });

  it('finds an addendum in the chain of another target with rebuilt links', async () => {
    const move = async (): Promise<Finding[]> => {
      const { rows } = await database.query<{ id: string; hash: Buffer }>(
        `select addendum_id as id, text_hash as hash from addendum_entry where ${entry('c', 3)}`,
      );
      await database.query(`delete from addendum_entry where ${entry('c', 3)};
        update addendum_target set last_sequence = 2,
          head_hash = (select link_hash from addendum_entry where ${entry('c', 2)}) where target_id = 'c'`);
      await database.query(APPEND_ENTRY.text, ['SDCDocument', 'a', rows[0]?.id, null, rows[0]?.hash]);
      return (await run()).findings;
    };
    expect(await changed('select', move)).toEqual([
      expect.objectContaining({ target: 'SDCDocument/c', reason: 'no-link' }),
      expect.objectContaining({ target: 'SDCDocument/a', sequence: 4, reason: 'other-target' }),
    ]);
  });

  it.each<[what: string, sql: string, found: object]>([
    ['an end that was cut off', cutOff('c', 3), { target: 'SDCDocument/c', sequence: 3, reason: 'cut-off' }],
    [
      'a removed chain',
      `delete from resource where type = 'SDCAddendum' and body like '%"SDCWorkflow"%';
       delete from addendum_entry where target_id = 'w'; delete from addendum_target where target_id = 'w'`,
      { target: 'SDCWorkflow/w', sequence: 1, reason: 'cut-off' },
    ],
  ])('finds %s only with the heads that were kept', async (_what, sql, found) => {
    const path = await keep((await run()).heads);
    const [alone, compared] = await changed(sql, async () => [await run(), await run(path)] as const);
    expect([alone.findings, compared.findings]).toEqual([[], [expect.objectContaining(found)]]);
  });

  it('finds a chain that was rebuilt only with the heads that were kept', async () => {
    const path = await keep(
      (await run()).heads.map((head) => (head.target.endsWith('/a') ? { ...head, head: 'f'.repeat(64) } : head)),
    );
    expect((await run(path)).findings).toMatchObject([{ target: 'SDCDocument/a', sequence: 3, reason: 'made-anew' }]);
  });

  it.each([
    ['a line that is not JSON', 'SDCDocument/a 3\n'],
    ['an invalid hash', '{"target":"SDCDocument/a","length":3,"head":"x"}\n'],
    ['another order', `${JSON.stringify({ target: 'b', length: 1, head: '0'.repeat(64) })}\n`.repeat(2)],
  ])('refuses a list of heads with %s, and names the line', async (_what, text) => {
    const path = join(folder, 'bad');
    await writeFile(path, text);
    await expect(run(path)).rejects.toThrow(/bad, line \d is/);
  });

  it('keeps the earlier list when writing a later one is abandoned', async () => {
    const path = await keep([{ target: 'a', length: 1, head: '0'.repeat(64) }]);
    const before = await readFile(path, 'utf8');
    const writer = await HeadWriter.open(path);
    await writer.write({ target: 'b', length: 1, head: '1'.repeat(64) });
    await writer.drop();
    expect(await readFile(path, 'utf8')).toBe(before);
  });
});
