import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ServerProcess } from '../support/server-process';
import { type TestApp, ROOT, ROOT_SECRET, startTestApp, encryptionKey } from '../../testing/test-app';

/** Number of calls; for a longer run set `ADDENDUM_KILL_CALLS=1000`. */
const CALLS = Number(process.env.ADDENDUM_KILL_CALLS ?? '200');
const KILLS = 3;
const AT_ONCE = 12;
const TARGETS = ['kill-1', 'kill-2', 'kill-3'].map((id) => ({ id, resourceType: 'SDCDocument' }));
const user = { id: 'doc-1', resourceType: 'User' };

interface Addendum {
  readonly id: string;
  readonly text?: string;
  readonly snapshot?: { readonly number: number };
}

describe('a server that is killed while addenda are added', () => {
  let app: TestApp;
  let server: ServerProcess;

  beforeAll(async () => {
    app = await startTestApp();
    for (const target of TARGETS) await app.put(`/SDCDocument/${target.id}`, { ...target, status: 'completed' });
    server = await start();
  });
  afterAll(async () => {
    await server.end('SIGKILL');
    await app.close();
  });

  const start = (): Promise<ServerProcess> =>
    ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: app.databaseUrl,
      SVC_ENCRYPTION_KEY: encryptionKey(),
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: 'not read after the first start',
      SVC_LOG_LEVEL: 'error',
    });

  async function call<T>(url: string, method: string, params: object, key?: string): Promise<T> {
    const response = await fetch(`${url}/rpc`, {
      method: 'POST',
      headers: {
        Authorization: ROOT,
        'Content-Type': 'application/json',
        ...(key === undefined ? {} : { 'Idempotency-Key': `"${key}"` }),
      },
      body: JSON.stringify({ method: `svc.sdc.addendum/${method}`, params }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return ((await response.json()) as { result: T }).result;
  }

  /** Each call writes distinct content; every fifth is a History with a snapshot. */
  function add(number: number): Promise<Addendum> {
    const target = TARGETS[number % TARGETS.length];
    const key = `call-${number}`;
    return number % 5 === 0
      ? call(server.url, 'add-to-history', { resource: { ...target, status: 'completed', number }, user }, key)
      : call(server.url, 'add-comment', { target, user, text: `Comment ${number}` }, key);
  }

  it(
    `keeps every acknowledged addendum and the chains through ${KILLS} kills in ${CALLS} calls; repeats with their Idempotency-Key add the missing ones`,
    async () => {
      const acknowledged = new Map<number, Addendum>();
      let next = 0;
      let lost = 0;
      let kills = 0;
      for (let kill = 1; kill <= KILLS; kill++) {
        const last = Math.ceil((CALLS * kill) / KILLS);
        const caller = async (): Promise<void> => {
          while (next < last) {
            const number = next++;
            await add(number).then(
              (addendum) => acknowledged.set(number, addendum),
              () => lost++,
            );
            // The server is killed when the last calls of the round are in flight. Some of them never get a response.
            if (next < last - AT_ONCE || kills === kill) continue;
            kills++;
            await server.end('SIGKILL');
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, caller));
        server = await start();
      }
      expect([next, acknowledged.size + lost, lost > 0]).toEqual([CALLS, CALLS, true]);
      expect(acknowledged.size).toBeGreaterThan(CALLS / 2);
      // Repeats with the same Idempotency-Key get the first response; calls that were lost run once.
      for (let number = 0; number < CALLS; number++) {
        const repeated = await add(number);
        expect(repeated).toEqual(acknowledged.get(number) ?? repeated);
      }
      const stored = new Map<string, Addendum>();
      for (const target of TARGETS) {
        const listed = await call<Addendum[]>(server.url, 'get-addendums', { target });
        for (const addendum of listed) stored.set(addendum.id, addendum);
        expect(await call(server.url, 'verify', { target })).toMatchObject({ intact: true, length: listed.length });
      }
      const missing = [...acknowledged.values()].filter(
        (one) => JSON.stringify(one) !== JSON.stringify(stored.get(one.id)),
      );
      expect(missing).toEqual([]);
      expect(stored.size).toBe(CALLS);
      const said = [...stored.values()].map(({ text, snapshot }) => text ?? snapshot?.number);
      expect(new Set(said).size).toBe(said.length);
    },
    180_000 + CALLS * 300,
  );
});
