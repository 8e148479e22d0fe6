import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { ServerProcess } from '../../support/server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET } from '../../../testing/test-app';

/**
 * The number of connections to a separate server process whose answers nobody reads; its resident memory is measured.
 * `UNREAD=200` opens as many as the original fault needed. A few suffice, since one unread page took 32 MB.
 */
const CONNECTIONS = Number(process.env.UNREAD ?? 30);

/** The number of resources, and the size of each. Together they fill a page of 10 MB. */
const RESOURCES = 1_000;
const RESOURCE_BYTES = 10_000;

/** 20 callers read 720 MB of lists: more than V8's old generation would keep as garbage without the flags of Node. */
const READERS = 20;
const LISTS_READ = 6;
const MOST_MEGABYTES = 500;

describe(`${CONNECTIONS} responses that no client reads`, () => {
  let database: ClonedDatabase;
  let server: ServerProcess;
  const open: ClientRequest[] = [];

  beforeAll(async () => {
    database = await cloneDatabase();
    server = await ServerProcess.start({
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      SVC_ROOT_CLIENT_SECRET: ROOT_SECRET,
      SVC_ADMIN_PASSWORD: ADMIN_PASSWORD,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_STREAM_STALL_SECONDS: '12',
      SVC_AUDIT: 'off',
    });
    const data = randomBytes(RESOURCE_BYTES * 0.75).toString('base64');
    const entry = Array.from({ length: RESOURCES }, () => ({
      resource: { resourceType: 'Binary', contentType: 'x/y', data },
      request: { method: 'POST', url: 'Binary' },
    }));
    expect((await send('/fhir', { resourceType: 'Bundle', type: 'batch', entry })).status).toBe(200);
    const target = { id: 'long', resourceType: 'SDCDocument' };
    const content = randomBytes(300_000).toString('base64');
    for (let n = 0; n < 15; n++) {
      const call = {
        method: 'svc.sdc.addendum/add-to-history',
        params: { resource: { ...target, status: 'completed', n, content }, user: { id: 'u', resourceType: 'User' } },
      };
      expect(await (await send('/rpc', call)).text()).toContain('result');
    }
  }, 60_000);
  afterEach(() => {
    for (const one of open.splice(0)) one.destroy();
  });
  afterAll(async () => {
    await server.end('SIGKILL');
    await database.drop();
  });

  const send = (path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: ROOT, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  /** Returns the status of a response, and reads no more of it. */
  const begin = async (path: string, body?: object): Promise<number> => {
    const sent = request(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: ROOT, 'content-type': 'application/json' },
      agent: false,
    });
    sent.on('error', () => undefined);
    open.push(sent);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.statusCode ?? 0;
  };

  const residentMegabytes = (): number =>
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)], { encoding: 'utf8' })) / 1024;

  const addendums = {
    method: 'svc.sdc.addendum/get-addendums',
    params: { target: { id: 'long', resourceType: 'SDCDocument' } },
  };

  it.each([
    ['S10: pages of a search', '/fhir/Binary?_count=1000', undefined],
    ['S10: pretty-printed pages', '/fhir/Binary?_count=1000&_pretty=true', undefined],
    ['S10: pages of a history', '/fhir/Binary/_history?_count=1000', undefined],
    ['S11: batches of lists of addenda', '/rpc', Array(30).fill(addendums)],
  ])(
    '%s use little memory, and other requests succeed',
    async (_, path, body) => {
      const before = residentMegabytes();
      const statuses = await Promise.all(Array.from({ length: CONNECTIONS }, () => begin(path, body)));
      if (CONNECTIONS <= 30) expect(new Set(statuses)).toEqual(new Set([200]));
      await delay(500);
      expect((await send('/fhir/Binary?_count=1')).status).toBe(200);
      const grown = residentMegabytes() - before;
      if (process.env.UNREAD !== undefined)
        console.log(`${path}: ${before.toFixed()} MB, and ${grown.toFixed()} MB more`);
      expect(grown).toBeLessThan(100 + 2 * CONNECTIONS);
    },
    120_000,
  );

  it('S11: lists of addenda leave little garbage after they were read', async () => {
    const body = JSON.stringify(Array(LISTS_READ).fill(addendums));
    const headers = { authorization: ROOT, 'content-type': 'application/json' };
    const read = async (): Promise<void> => {
      const sent = request(`${server.url}/rpc`, { method: 'POST', headers, agent: false }).end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'close');
      expect(response.complete).toBe(true);
    };
    const seen: number[] = [];
    const looking = setInterval(() => seen.push(residentMegabytes()), 100);
    await Promise.all(Array.from({ length: READERS }, read)).finally(() => {
      clearInterval(looking);
    });
    if (process.env.UNREAD !== undefined) console.log(`lists that are read: ${Math.max(...seen).toFixed()} MB`);
    expect(Math.max(...seen)).toBeLessThan(MOST_MEGABYTES);
  }, 60_000);
});
