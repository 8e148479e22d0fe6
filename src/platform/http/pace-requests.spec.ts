import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { paceRequests } from './pace-requests';

const LOGINS = 200;
const LOGIN = 'POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';

describe('S7: many requests at once', () => {
  const handled: (string | undefined)[] = [];
  /** The number of requests that began in each turn of the event loop. */
  const perTurn: number[] = [];
  let begun = 0;
  const server = createServer(({ url }, response) => {
    handled.push(url);
    if (begun++ === 0)
      setImmediate(() => {
        perTurn.push(begun);
        begun = 0;
      });
    response.end();
  });
  let accepted = 0;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    paceRequests(server);
    server.on('connection', () => accepted++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (let index = 0; index <= LOGINS + 1; index++) sockets.push(connect(port, '127.0.0.1'));
    while (accepted < sockets.length) await delay(10);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  it('start one token request per iteration of the event loop, so that a request behind them does not wait for all', async () => {
    const [last, left, ...others] = sockets.toReversed() as [Socket, Socket, ...Socket[]];
    const answers = [last, ...others].map((socket) => once(socket, 'data'));
    for (const socket of others) socket.write(LOGIN);
    left.end(LOGIN);
    left.destroy();
    last.write('GET /Patient/p1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(answers);
    expect(handled.indexOf('/Patient/p1')).toBeLessThan(LOGINS / 4);
  });

  it('are all processed, except those whose client disconnected', async () => {
    await delay(50);
    expect(handled).toHaveLength(LOGINS + 1);
  });

  it('S10: start at most four other requests and four queued ones per iteration of the event loop', async () => {
    perTurn.length = 0;
    const others = sockets.slice(0, LOGINS);
    const answers = others.map((socket) => once(socket, 'data'));
    for (const socket of others) socket.write('GET /Patient/p1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(answers);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(8);
  });
});
