import { once } from 'node:events';
import { type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { readEnvironment } from '../config/environment';
import { RequestContext } from '../http/request-context';
import { requestContext } from '../http/request-context.middleware';
import { Slices } from '../time/slices';
import { MemoryBudget } from './memory-budget';
import { requestBodies } from './request-bodies';

const LOGINS = 200;

describe('S7: many token requests at once', () => {
  const handled: string[] = [];
  let server: Server;
  let accepted = 0;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    const requests = new RequestContext();
    const slices = new Slices(requests);
    const app = express();
    app.use(requestContext(requests, new MemoryBudget(readEnvironment({}))));
    const rules = { limitBytes: 1000, stallSeconds: 10, judge: () => Promise.resolve(), turn: () => slices.turn() };
    app.use(requestBodies(requests, rules));
    app.use(({ path }, response) => {
      handled.push(path);
      response.end();
    });
    server = app.listen(0, '127.0.0.1');
    server.on('connection', () => accepted++);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (let index = 0; index <= LOGINS; index++) sockets.push(connect(port, '127.0.0.1'));
    while (accepted < sockets.length) await delay(10);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  it('are taken one in a turn of the event loop, so that the request behind them does not wait for all of them', async () => {
    const answers = sockets.map((socket) => once(socket, 'data'));
    const [last, ...others] = sockets.toReversed();
    for (const socket of others) socket.write('POST /auth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    last?.write('GET /Patient/p1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(answers);
    expect(handled).toHaveLength(LOGINS + 1);
    expect(handled.indexOf('/Patient/p1')).toBeLessThan(LOGINS / 4);
  });
});
