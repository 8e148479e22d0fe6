import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { APPEND_ENTRY } from '../../../src/addendum/chain/addendum-statements';
import { type TestApp, startTestApp } from '../../../testing/test-app';

interface Target {
  readonly id: string;
  readonly resourceType: string;
}

interface Verification {
  readonly intact: boolean;
  readonly length: number;
  readonly head: string;
  readonly broken?: { readonly sequence?: number; readonly reason: string; readonly message: string };
}

const user = { id: 'doc-1', resourceType: 'User' };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the hash chain of the addenda of a target', () => {
  let app: TestApp;
  let other: TestApp;
  let database: Client;
  let documents = 0;

  beforeAll(async () => {
    app = await startTestApp();
    other = await startTestApp({ databaseUrl: app.databaseUrl });
    database = await app.connect();
    // The owner of the database can disable triggers and foreign keys.
    await database.query('set session_replication_role = replica');
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  async function call<T>(
    method: string,
    params: object,
    by = app,
  ): Promise<{ status: number; result: T; text: string }> {
    const { status, text } = await by.post('/rpc', { method: `svc.sdc.addendum/${method}`, params });
    return { status, text, result: (JSON.parse(text) as { result: T }).result };
  }
  const comment = async (target: Target, text: string, by = app): Promise<string> => {
    const { status, result } = await call<{ id: string }>('add-comment', { target, user, text }, by);
    expect(status).toBe(200);
    return result.id;
  };
  const verify = async (target: Target, by = app): Promise<Verification> =>
    (await call<Verification>('verify', { target }, by)).result;

  /** Stores a document for one test, with this many comments. */
  async function sdcDocument(comments = 0): Promise<Target> {
    const target = { id: `doc-${++documents}`, resourceType: 'SDCDocument' };
    expect(await app.put(`/SDCDocument/${target.id}`, { ...target, status: 'completed' })).toMatchObject({
      status: 201,
    });
    for (let number = 1; number <= comments; number++) await comment(target, `Comment ${number}`);
    return target;
  }

  const entry = (target: Target, sequence: number): string =>
    `target_type = 'SDCDocument' and target_id = '${target.id}' and sequence = ${sequence}`;
  const addendumOf = (target: Target, sequence: number): string =>
    `type = 'SDCAddendum' and id = (select addendum_id from addendum_entry where ${entry(target, sequence)})`;

  it('is intact and empty for a target without addenda', async () => {
    const target = await sdcDocument();
    expect(await verify(target)).toEqual({ target, intact: true, length: 0, head: '0'.repeat(64) });
  });

  it('is "Resource not found" for a target that is not stored', async () => {
    const { status, text } = await call('verify', { target: { id: 'nobody', resourceType: 'SDCDocument' } });
    expect([status, JSON.parse(text)]).toMatchObject([422, { error: { message: 'Resource not found' } }]);
  });

  it('can be recomputed from the responses, byte by byte', async () => {
    const target = await sdcDocument(2);
    const body = { ...target, status: 'completed', 'loinc-8867-4': { value: 72, unit: '/min' } };
    await call('add-to-history', { resource: body, user });
    const { result: addenda } = await call<{ id: string; snapshot?: object }[]>('get-addendums', { target });
    let head = '0'.repeat(64);
    for (const [index, { id, snapshot }] of addenda.entries()) {
      const { text } = await app.get(`/SDCAddendum/${id}`);
      const digest =
        snapshot === undefined
          ? '-'
          : sha256(
              '{"id":"ID","loinc-8867-4":{"unit":"/min","value":72},"resourceType":"SDCDocument","status":"completed"}'.replace(
                'ID',
                target.id,
              ),
            );
      const lines = ['svc-addendum-link-1', head, index + 1, `SDCDocument/${target.id}`, id, sha256(text), digest];
      head = sha256(lines.map((line) => `${line}\n`).join(''));
    }
    expect(await verify(target)).toEqual({ target, intact: true, length: 3, head });
  });

  it('stays intact under sixteen concurrent calls on two servers', async () => {
    const target = await sdcDocument();
    const numbers = Array.from({ length: 16 }, (_, index) => index);
    await Promise.all(numbers.map((number) => comment(target, `At once ${number}`, number % 2 === 0 ? app : other)));
    expect(await verify(target)).toMatchObject({ intact: true, length: 16 });
  });

  it('can still be verified after its target is deleted', async () => {
    const target = await sdcDocument(2);
    await app.delete(`/SDCDocument/${target.id}`);
    expect(await verify(target)).toMatchObject({ intact: true, length: 2 });
  });

  it('is verified over all of its links', async () => {
    const target = await sdcDocument();
    const add = { method: 'svc.sdc.addendum/add-comment', params: { target, user, text: 'One of many' } };
    for (let batch = 0; batch < 3; batch++) await app.post('/rpc', Array<object>(75).fill(add));
    expect(await verify(target)).toMatchObject({ intact: true, length: 225 });
    await database.query(`update resource set body = replace(body, 'One', 'Two') where ${addendumOf(target, 210)}`);
    expect(await verify(target)).toMatchObject({ length: 209, broken: { sequence: 210, reason: 'changed-text' } });
  });

  it.each<[what: string, sql: (target: Target) => string, broken: object]>([
    [
      'one byte of the text of an addendum',
      (target) => `update resource set body = replace(body, 'Comment 3', 'Comment 8') where ${addendumOf(target, 3)}`,
      { sequence: 3, reason: 'changed-text' },
    ],
    [
      'the author of an addendum',
      (target) => `update resource set body = replace(body, 'doc-1', 'doc-2') where ${addendumOf(target, 1)}`,
      { sequence: 1, reason: 'changed-text' },
    ],
    [
      'a text and its hash',
      (target) => `update resource set body = replace(body, 'Comment 3', 'Comment 8') where ${addendumOf(target, 3)};
        update addendum_entry set text_hash = (select sha256(convert_to(body, 'UTF8')) from resource where ${addendumOf(target, 3)})
        where ${entry(target, 3)}`,
      { sequence: 3, reason: 'changed-link' },
    ],
    [
      'the History that counts as snapshot',
      (target) => `update addendum_entry set snapshot_digest = '\\x00' where ${entry(target, 2)}`,
      { sequence: 2, reason: 'changed-link' },
    ],
    [
      'the hash of a link',
      (target) => `update addendum_entry set link_hash = sha256('x') where ${entry(target, 4)}`,
      { sequence: 4, reason: 'changed-link' },
    ],
    [
      'the order of two links',
      (target) => `update addendum_entry set sequence = 100 where ${entry(target, 2)};
        update addendum_entry set sequence = 2 where ${entry(target, 4)};
        update addendum_entry set sequence = 4 where ${entry(target, 100)}`,
      { sequence: 2, reason: 'order' },
    ],
    [
      'the sequence of a link, so that a number is missing',
      (target) => `update addendum_entry set sequence = 100 where ${entry(target, 2)}`,
      { sequence: 2, reason: 'order' },
    ],
    [
      'the swapped texts of two addenda',
      (target) => `update resource set body = case when ${addendumOf(target, 2)}
          then (select body from resource where ${addendumOf(target, 4)}) else (select body from resource where ${addendumOf(target, 2)}) end
        where ${addendumOf(target, 2)} or ${addendumOf(target, 4)}`,
      { sequence: 2, reason: 'order' },
    ],
    [
      'a removed link in the middle',
      (target) => `delete from addendum_entry where ${entry(target, 3)}`,
      { sequence: 3, reason: 'missing-link' },
    ],
    [
      'a removed addendum',
      (target) => `delete from resource where ${addendumOf(target, 3)}`,
      { sequence: 3, reason: 'missing-addendum' },
    ],
    [
      'a removed last link with its addendum',
      (target) =>
        `delete from resource where ${addendumOf(target, 5)}; delete from addendum_entry where ${entry(target, 5)}`,
      { sequence: 5, reason: 'missing-link' },
    ],
    [
      'the head in the row of the target',
      (target) => `update addendum_target set last_sequence = 4 where target_id = '${target.id}'`,
      { reason: 'changed-head' },
    ],
    [
      'a removed row of the target',
      (target) => `delete from addendum_target where target_id = '${target.id}'`,
      { reason: 'missing-head' },
    ],
    [
      'all links removed',
      (target) => `delete from addendum_entry where target_id = '${target.id}';
        delete from addendum_target where target_id = '${target.id}'`,
      { reason: 'no-link' },
    ],
    [
      'a consistently removed last link whose addendum remains',
      (target) => `delete from addendum_entry where ${entry(target, 5)};
        update addendum_target set last_sequence = 4,
          head_hash = (select link_hash from addendum_entry where ${entry(target, 4)}) where target_id = '${target.id}'`,
      { reason: 'no-link' },
    ],
    [
      'a consistently removed last link whose addendum remains as invalid JSON',
      (target) => `update resource set body = body || 'x' where ${addendumOf(target, 5)};
        delete from addendum_entry where ${entry(target, 5)};
        update addendum_target set last_sequence = 4,
          head_hash = (select link_hash from addendum_entry where ${entry(target, 4)}) where target_id = '${target.id}'`,
      { reason: 'no-link' },
    ],
    [
      'the version of an addendum',
      (target) => `update resource set version = 2 where ${addendumOf(target, 3)}`,
      { sequence: 3, reason: 'other-version' },
    ],
    [
      'an earlier version added to the history of an addendum',
      (target) => `insert into resource_history (updated_at, version, type, id, method, body)
        select updated_at, 1, type, id, 'POST', replace(body, 'Comment 4', 'Forged') from resource where ${addendumOf(target, 4)}`,
      { sequence: 4, reason: 'other-version' },
    ],
    [
      'another target for the whole chain',
      (target) => `update addendum_entry set target_id = 'moved-${target.id}' where target_id = '${target.id}';
        update addendum_target set target_id = 'moved-${target.id}' where target_id = '${target.id}'`,
      { reason: 'no-link' },
    ],
  ])('shows a manipulation: %s', async (_what, sql, broken) => {
    const target = await sdcDocument(5);
    const before = await verify(target);
    await database.query(sql(target));
    const found = await verify(target, other);
    expect([before.intact, found.intact]).toEqual([true, false]);
    expect(found.broken).toMatchObject(broken);
    expect(found.broken?.message).toMatch(/^[A-Z].{20,}\.$/);
    const { sequence } = broken as { sequence?: number };
    if (sequence !== undefined) expect(found.length).toBe(sequence - 1);
  });

  it.each(['short', 'x'.repeat(100_000)])(
    'makes get-addendums fail with the reason if an addendum was removed: %#',
    async (text) => {
      const target = await sdcDocument();
      await comment(target, text);
      await comment(target, 'Removed');
      await database.query(`delete from resource where ${addendumOf(target, 2)}`);
      const answer = await app.post('/rpc', { method: 'svc.sdc.addendum/get-addendums', params: { target } });
      expect(answer).toMatchObject({ status: 422, text: expect.stringContaining('svc.sdc.addendum/verify') });
      expect(answer.json()).toMatchObject({ error: { type: 'addendum-missing' } });
    },
  );

  it('shows on the page of a deleted target that all links and addenda were removed', async () => {
    const target = await sdcDocument(2);
    await app.delete(`/SDCDocument/${target.id}`);
    await database.query(`delete from resource where type = 'SDCAddendum' and body like '%"${target.id}"%';
      delete from addendum_entry where target_id = '${target.id}'`);
    const { status, text } = await app.get(`/SDCDocument/${target.id}/$amendments?_format=json`);
    expect([status, text]).toEqual([200, expect.stringContaining('"reason":"missing-link"')]);
  });

  it('shows an addendum that was moved to the chain of another target with rebuilt links', async () => {
    const [target, decoy] = [await sdcDocument(2), await sdcDocument(1)];
    const moved = await comment(target, 'Moved');
    await database.query(`
      delete from addendum_entry where ${entry(target, 3)};
      update addendum_target set last_sequence = 2,
        head_hash = (select link_hash from addendum_entry where ${entry(target, 2)}) where target_id = '${target.id}'`);
    const body = (await app.get(`/SDCAddendum/${moved}`)).text;
    const textHash = Buffer.from(sha256(body), 'hex');
    await database.query(APPEND_ENTRY.text, ['SDCDocument', decoy.id, moved, null, textHash]);
    const addendum = { id: moved, resourceType: 'SDCAddendum' };
    expect(await verify(target)).toMatchObject({ length: 2, broken: { reason: 'no-link', addendum } });
    expect(await verify(decoy)).toMatchObject({ length: 1, broken: { sequence: 2, reason: 'other-target', addendum } });
  });

  it.each([
    ['short', {}],
    ['long', { text: 'x'.repeat(20_000) }],
    ['long, with unusual characters in its target', { text: 'x'.repeat(20_000), target: { display: '"}' } }],
  ])(
    'is intact with an addendum that is %s, and broken if that one is in the chain of another target',
    async (_what, more) => {
      const target = await sdcDocument();
      const addendum = {
        type: 'acme/Hint',
        user,
        ...more,
        target: { ...target, ...(more as { target?: object }).target },
      };
      expect((await call('create-addendum', { addendum })).status).toBe(200);
      expect(await verify(target)).toMatchObject({ intact: true, length: 1 });
      const { id } = await sdcDocument();
      await database.query(`delete from addendum_entry where ${entry(target, 1)};
      insert into addendum_target (target_type, target_id, last_sequence) values ('SDCDocument', '${id}', 0)`);
      const { rows } = await database.query<{ id: string; text: string }>(
        `select id, body as text from resource where type = 'SDCAddendum' and body like '%"${target.id}"%'`,
      );
      const hash = Buffer.from(sha256(rows[0]?.text ?? ''), 'hex');
      await database.query(APPEND_ENTRY.text, ['SDCDocument', id, rows[0]?.id, null, hash]);
      expect((await verify({ ...target, id })).broken).toMatchObject({ sequence: 1, reason: 'other-target' });
    },
  );

  it('is not affected by an addendum of another target that refers to this one', async () => {
    const [target, other] = [await sdcDocument(1), await sdcDocument()];
    await app.put('/fhir/SearchParameter/about', {
      resourceType: 'SearchParameter',
      id: 'about',
      url: 'urn:about',
      name: 'about',
      status: 'active',
      description: 'about',
      code: 'about',
      base: ['SDCAddendum'],
      type: 'reference',
      expression: 'SDCAddendum.about',
      target: ['SDCDocument'],
    });
    const addendum = { type: 'acme/Hint', target: other, user, about: target };
    expect((await call('create-addendum', { addendum })).status).toBe(200);
    const found = await app.get(`/SDCAddendum?about=SDCDocument/${target.id}`);
    expect(found.json<{ total: number }>().total).toBe(1);
    expect(await verify(target)).toMatchObject({ intact: true, length: 1 });
  });

  it('does not show that its end was cut off with all related rows; only a separately kept head shows that', async () => {
    const target = await sdcDocument(5);
    const { head } = await verify(target);
    await database.query(`
      delete from reference_link where resource_key = (select resource_key from resource where ${addendumOf(target, 5)});
      delete from resource where ${addendumOf(target, 5)};
      delete from addendum_entry where ${entry(target, 5)};
      update addendum_target set last_sequence = 4,
        head_hash = (select link_hash from addendum_entry where ${entry(target, 4)}) where target_id = '${target.id}'`);
    const after = await verify(target);
    expect(after).toMatchObject({ intact: true, length: 4 });
    expect(after.head).not.toBe(head);
  });

  it('continues from its last link', async () => {
    const target = await sdcDocument(3);
    const before = await verify(target);
    await comment(target, 'One more');
    const after = await verify(target);
    expect([before.length, after.length, after.intact]).toEqual([3, 4, true]);
    expect(after.head).not.toBe(before.head);
  });

  it.each(['update addendum_entry set sequence = 9', 'delete from addendum_entry', 'truncate addendum_entry'])(
    'is append-only by a trigger of the database: %s',
    async (sql) => {
      const client = await app.connect();
      await expect(client.query(sql)).rejects.toThrow('addendum_entry is append-only');
      await client.end();
    },
  );
});
