import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { eventually } from '../../../testing/eventually';
import { ServerProcess } from '../../support/server-process';
import { ADMIN_PASSWORD, ROOT, ROOT_SECRET, basicHeader, encryptionKey } from '../../../testing/test-app';

const MIB = 1024 * 1024;
/** A body of about 30 bytes that decompresses to this many spaces. */
const bombOf = (bytes: number): Buffer =>
  brotliCompressSync(Buffer.alloc(bytes, ' '), {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 2 },
  });
const BOMB = bombOf(20 * MIB);
const BOMB_BEYOND_THE_LIMIT = bombOf(20 * MIB + 1);
const WARD = basicHeader('ward', 'secret of the ward');
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('S1: the admission of request bodies', () => {
  let database: ClonedDatabase;
  let server: ServerProcess;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    server = await ServerProcess.start({
      ...{ PORT: '0', HOST: '127.0.0.1', DATABASE_URL: database.url, SVC_ENCRYPTION_KEY: encryptionKey() },
      ...{ SVC_ROOT_CLIENT_SECRET: ROOT_SECRET, SVC_ADMIN_PASSWORD: ADMIN_PASSWORD, SVC_LOG_LEVEL: 'error' },
      ...{ SVC_STREAM_STALL_SECONDS: '2', SVC_MEMORY_BUDGET_BYTES: String(64 * MIB) },
    });
    await send('PUT', '/Client/ward', {
      body: JSON.stringify({ secret: 'secret of the ward', grant_types: ['basic'] }),
    });
    await send('PUT', '/AccessPolicy/ward', {
      body: JSON.stringify({ engine: 'allow', link: [{ resourceType: 'Client', id: 'ward' }] }),
    });
    // A warm-up: the first large body makes the process keep memory that must not be measured.
    await send('POST', '/Binary', { body: binaryOf(MIB) });
  }, 60_000);
  afterAll(async () => {
    await server.end('SIGTERM');
    await database.drop();
  });

  interface Sent {
    readonly authorization?: string | null;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Buffer;
  }
  const send = async (
    method: string,
    path: string,
    { authorization = ROOT, headers, body }: Sent,
  ): Promise<Response> => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { ...JSON_TYPE, ...(authorization === null ? {} : { Authorization: authorization }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    await response.arrayBuffer();
    return response;
  };
  const binaryOf = (bytes: number): string =>
    JSON.stringify({ resourceType: 'Binary', contentType: 'text/plain', data: 'A'.repeat(bytes) });

  /** The increase of the server's peak memory during `work`, in megabytes. */
  const peak = async (work: () => Promise<unknown>): Promise<number> => {
    const resident = (): number =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = resident();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, resident())), 20);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    return Math.max(most, resident()) - before;
  };

  /** A connection that sends its head and a part of its body, then nothing more. */
  const begin = (path: string, authorization: string | undefined, declared: number, sent: number): Promise<Upload> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, () => {
        const header = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}Content-Length: ${declared}\r\n\r\n`,
        );
        socket.write(Buffer.alloc(sent, ' '));
        resolve(new Upload(socket));
      });
      socket.on('error', reject);
    });

  it.each(['/Patient', '/health', '/nowhere', '/fhir/Patient/p/$everything'])(
    'S1: a hundred compressed bombs without credentials to %s are refused unread',
    async (path) => {
      const statuses = new Set<number>();
      const growth = await peak(async () => {
        const bombs = Array.from({ length: 100 }, () =>
          send('POST', path, { authorization: null, body: BOMB, headers: { 'Content-Encoding': 'br' } }),
        );
        for (const { status } of await Promise.all(bombs)) statuses.add(status);
      });
      expect([...statuses].filter((status) => ![401, 404, 405].includes(status))).toEqual([]);
      expect(growth).toBeLessThan(100);
    },
  );

  it('S1: refuses a token request that is over 64 KiB or compressed', async () => {
    const open = { authorization: null };
    const packed = await send('POST', '/auth/token', { ...open, body: BOMB, headers: { 'Content-Encoding': 'br' } });
    const large = await send('POST', '/auth/token', { ...open, body: ' '.repeat(64 * 1024 + 1) });
    const inChunks = await fetch(`${server.url}/auth/token`, {
      ...{ method: 'POST', headers: JSON_TYPE, duplex: 'half' },
      body: new Blob([' '.repeat(200_000)]).stream(),
    });
    expect([packed.status, large.status, inChunks.status]).toEqual([415, 413, 413]);
  });

  it('S1: responds to unfinished uploads without credentials at once, and closes them after seconds', async () => {
    let uploads: Upload[] = [];
    const growth = await peak(async () => {
      uploads = await Promise.all(Array.from({ length: 200 }, () => begin('/Patient', undefined, 20 * MIB, MIB)));
      await Promise.all(uploads.map((upload) => upload.answered()));
    });
    expect(new Set(uploads.map(({ status }) => status))).toEqual(new Set(['401']));
    expect(growth).toBeLessThan(100);
    await Promise.all(uploads.map((upload) => upload.ended()));
  });

  it('S1: returns 408 for a stalled body after seconds, with and without credentials', async () => {
    const uploads = await Promise.all([
      begin('/auth/token', undefined, 1_000, 10),
      begin('/Patient', ROOT, 1_000_000, 100_000),
    ]);
    await Promise.all(uploads.map((upload) => upload.answered()));
    expect(uploads.map(({ status }) => status)).toEqual(['408', '408']);
    await Promise.all(uploads.map((upload) => upload.ended()));
  });

  it('S1: accepts a body that arrives slowly but steadily', async () => {
    const body = JSON.stringify({ resourceType: 'Basic', code: { text: 'slow' } });
    const upload = await begin('/Basic', ROOT, body.length + 300_000, 0);
    for (let sent = 0; sent < 4; sent++) {
      upload.socket.write(Buffer.alloc(75_000, ' '));
      await delay(400);
    }
    upload.socket.write(body);
    await upload.answered();
    expect(upload.status).toBe('201');
    upload.socket.destroy();
  });

  it('S1: decompresses bombs with credentials one at a time, and stops at the limit', async () => {
    const statuses = new Set<number>();
    const growth = await peak(async () => {
      const bombs = [...Array.from({ length: 3 }, () => BOMB), BOMB_BEYOND_THE_LIMIT].map((body) =>
        send('POST', '/Patient', { body, headers: { 'Content-Encoding': 'br' } }),
      );
      for (const { status } of await Promise.all(bombs)) statuses.add(status);
    });
    expect([...statuses].sort()).toEqual([400, 413]);
    expect(growth).toBeLessThan(250);
  });

  it('S1: uploads queue for memory, fairly by caller, and small writes wait for none of them', async () => {
    const body = binaryOf(4 * MIB);
    const done: string[] = [];
    const upload = (name: string, authorization: string): Promise<number> =>
      send('POST', '/Binary', { authorization, body }).then(({ status }) => {
        done.push(name);
        return status;
      });
    const flood = Array.from({ length: 10 }, () => upload('root', ROOT));
    await delay(50);
    const ward = upload('ward', WARD);
    const small = await send('PUT', '/Basic/small', {
      body: JSON.stringify({ resourceType: 'Basic', code: { text: 's' } }),
    });
    expect([small.status, await ward]).toEqual([201, 201]);
    expect(done.length).toBeLessThan(8);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([201]));
  }, 60_000);

  it('S1: releases the memory of clients that disconnected', async () => {
    const uploads = await Promise.all(Array.from({ length: 20 }, () => begin('/Binary', ROOT, 20 * MIB, 100_000)));
    await delay(100);
    for (const { socket } of uploads) socket.destroy();
    await eventually('a large body is taken again', async () => {
      const { status } = await send('POST', '/Binary', { body: binaryOf(4 * MIB) });
      return status === 201 ? true : undefined;
    });
  });
});

/** An unfinished request, with the response received so far. */
class Upload {
  private text = '';
  private isEnded = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => (this.text += chunk.toString()));
    socket.on('close', () => (this.isEnded = true));
    socket.on('error', () => undefined);
  }

  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.text)?.[1];
  }

  answered(): Promise<string> {
    return eventually('an answer', () => this.status);
  }

  ended(): Promise<boolean> {
    return eventually('the connection is closed', () => this.isEnded || undefined, 10_000);
  }
}
