import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { requestBodies } from './request-bodies';

const UPLOADS = 100;
const SENT = Buffer.alloc(2 ** 20, ' ');
const head = (connection: string): string =>
  `POST /fhir/Patient HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nContent-Length: ${20 * SENT.length}\r\n\r\n`;

describe('an upload that is refused before its body is read', () => {
  const accepted: Socket[] = [];
  const open: Socket[] = [];
  const servers: Server[] = [];

  async function serve(stallSeconds: number): Promise<Server> {
    const app = express();
    const judge = (): Promise<void> => Promise.reject(new ServiceError('unauthorized', 'No credentials'));
    app.use(requestBodies(new RequestContext(), { limitBytes: 20 * SENT.length, stallSeconds, judge }));
    app.use((_request, response) => {
      response.status(401).end('refused');
    });
    const server = createServer(app);
    servers.push(server);
    server.on('connection', (socket) => accepted.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) {
      server.close();
      await once(server, 'close');
    }
  });

  const upload = (server: Server, connection: string): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    open.push(socket);
    socket.write(head(connection));
    socket.write(SENT);
    return socket;
  };

  it('is answered, even if the client reads late and requests Connection: close', async () => {
    const socket = upload(await serve(60), 'close').pause();
    await delay(200);
    socket.write(SENT);
    await delay(200);
    const answer: Buffer[] = [];
    socket.on('data', (chunk) => answer.push(chunk)).resume();
    await once(socket, 'end');
    expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1\.1 401 [^]*refused$/);
  });

  it('is disconnected if it continues for too long', async () => {
    const socket = upload(await serve(1), 'close');
    const sending = setInterval(() => socket.write('x'), 100);
    const startedAt = performance.now();
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    clearInterval(sending);
    expect(performance.now() - startedAt).toBeLessThan(20_000); // without a limit, it goes on and on
  });

  it('is discarded in rotation with other uploads, so that iterations of the event loop stay short', async () => {
    const server = await serve(60);
    accepted.length = 0;
    for (let n = 0; n < UPLOADS; n++) upload(server, 'keep-alive');
    const read = (): number => accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    const isReading = ({ destroyed, bytesRead }: Socket): boolean => !destroyed && bytesRead < SENT.length;
    let turns = 0;
    for (let before = 0; accepted.length < UPLOADS || accepted.some(isReading); before = read()) {
      await nextTurn();
      if (read() > before) turns++;
    }
    // About 100 turns accept a connection each. Dropped in turn, the bodies take 400 more; all at once, they take ten.
    expect(turns).toBeGreaterThan(3 * UPLOADS);
  });
});
