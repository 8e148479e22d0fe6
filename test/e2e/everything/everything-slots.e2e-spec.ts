import { get as httpGet, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../testing/eventually';
import { login, type Person } from '../../../testing/world';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const PATH = '/fhir/Patient/wide/$everything?_format=ndjson';

/** The number of resources of a patient. Together they have 18 MB, more than the buffers of a connection hold. */
const RESOURCES = 30;
const NOTE = 'z'.repeat(600_000);

const NAMES = ['hog', 'boar', 'ant', 'bee', 'cat'] as const;

/** The server has four slots for large compartments, and a caller has at most two of them. */
describe('slots for large patient compartments', () => {
  let app: TestApp;
  const people = new Map<string, Person>();
  const answers: IncomingMessage[] = [];

  beforeAll(async () => {
    app = await startTestApp({
      environment: { SVC_DATABASE_POOL_SIZE: '8', SVC_STREAM_STALL_SECONDS: '12', SVC_AUDIT: 'off' },
    });
    for (const name of NAMES) people.set(name, await login(app, name));
    await app.put('/fhir/Patient/wide', {});
    const subject = { reference: 'Patient/wide' };
    const stored = Array.from({ length: RESOURCES }, (_, n) =>
      app.put(`/fhir/Basic/w-${n}`, { code: { text: NOTE }, subject }),
    );
    expect(new Set((await Promise.all(stored)).map(({ status }) => status))).toEqual(new Set([201]));
  }, 60_000);
  afterAll(async () => {
    for (const answer of answers) answer.destroy();
    await app.close();
  });

  const authorizationOf = (name: string): string => people.get(name)?.bearer ?? '';

  /** Sends a request, and reads only the head of the response. */
  const unread = (name: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: authorizationOf(name) };
      httpGet(`${app.url}${PATH}`, { headers, agent: false }, (answer) => {
        answer.on('error', () => undefined);
        answers.push(answer);
        resolve(answer);
      }).on('error', reject);
    });
  const linesRead = async (name: string): Promise<[status: number, lines: number]> => {
    const { status, text } = await app.get(PATH, { authorization: authorizationOf(name) });
    return [status, text.split('\n').length - 1];
  };
  const leave = async (left: readonly IncomingMessage[]): Promise<void> => {
    for (const answer of left) answer.destroy();
    await eventually('their slots are free', async () => (await linesRead('cat'))[0] === 200);
  };

  it('S16: a caller who does not read gets at most half of them, however many requests it sends', async () => {
    const asked = Array.from({ length: 12 }, () => unread('hog'));
    await Promise.race(asked);
    expect(await linesRead('ant')).toEqual([200, RESOURCES + 1]);
    const settled = await Promise.all(asked);
    const open = settled.filter(({ statusCode }) => statusCode === 200);
    const refused = settled.filter(({ statusCode }) => statusCode === 503);
    expect([open.length, refused.length]).toEqual([2, 10]);
    expect(refused[0]?.headers['retry-after']).toBe('2');
    await leave(settled);
  }, 20_000);

  it('S16: a caller with two unread streams loses one of them after a second if others wait, but keeps the last', async () => {
    const startedAt = performance.now();
    const held = await Promise.all(['hog', 'hog', 'boar', 'boar'].map(unread));
    held.push(await unread('ant'));
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    held.push(await unread('bee'));
    expect(held.map(({ statusCode }) => statusCode)).toEqual(held.map(() => 200));
    // Each caller now has one slot. The server cuts no caller's last stream, so a new request gets 503.
    expect((await unread('cat')).statusCode).toBe(503);
    const complete = await Promise.all(held.map(isWhole));
    const [hog, boar] = [complete.slice(0, 2), complete.slice(2, 4)];
    expect([hog.sort(), boar.sort(), complete.slice(4)]).toEqual([
      [false, true],
      [false, true],
      [true, true],
    ]);
  }, 30_000);
});

/** Reads the rest of a response; returns whether the response is complete. */
async function isWhole(answer: IncomingMessage): Promise<boolean> {
  const closed = new Promise((resolve) => answer.once('close', resolve));
  answer.resume();
  await closed;
  return answer.complete;
}
