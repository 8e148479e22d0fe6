import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express, { type NextFunction, type Request, type Response } from 'express';
import { MemoryBudget } from '../admission/memory-budget';
import { readEnvironment } from '../config/environment';
import { Slices } from '../time/slices';
import { RequestContext } from '../request/request-context';
import { requestContext } from './request-context.middleware';
import { ANSWER_TERMS, type AnswerTerms, produceOf, sendBody } from './send-body';

const ANSWERS = 40;
const CHUNKS = 12;
const CHUNK = 'x'.repeat(64 * 1024);

describe('S10: the memory budget', () => {
  const MEGABYTE = 'x'.repeat(2 ** 20);
  const budget = new MemoryBudget({ ...readEnvironment({}), memoryBudgetBytes: 4 * 2 ** 20 });
  let server: Server;

  beforeAll(async () => {
    const requests = new RequestContext();
    const app = express();
    app.use(requestContext(requests, budget));
    const terms: AnswerTerms = { stallSeconds: 10, requests, slices: new Slices(requests) };
    app.locals[ANSWER_TERMS] = terms;
    app.use((request, response, next) => {
      const texts = Array<string>(30).fill(MEGABYTE.repeat(Number(request.query.megabytes)));
      sendBody(response, { status: 200, headers: {} }, produceOf(texts)).catch(next);
    });
    app.use((_error: unknown, _request: Request, response: Response, _next: NextFunction) => {
      response.status(503).end();
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const ask = async (megabytes: number): Promise<IncomingMessage> => {
    const { port } = server.address() as AddressInfo;
    const request = get(`http://127.0.0.1:${port}/?megabytes=${megabytes}`, { agent: false });
    return ((await once(request, 'response')) as [IncomingMessage])[0];
  };

  it('counts the longest chunk of a response once, until the response ends', async () => {
    const unread = await ask(1);
    expect([unread.statusCode, budget.inUse]).toEqual([200, 2 ** 20]);
    unread.on('data', () => {
      expect(budget.inUse).toBeLessThanOrEqual(2 ** 20);
    });
    await once(unread, 'end');
    await nextTurn();
    expect(budget.inUse).toBe(0);
  });

  it('refuses a response before it starts if its chunks do not fit', async () => {
    const unread = await Promise.all([ask(1), ask(1)]);
    const refused = await ask(1);
    expect([...unread, refused].map(({ statusCode }) => statusCode)).toEqual([200, 200, 503]);
    for (const one of unread) one.destroy();
  });
});

describe('S10: many long responses at once', () => {
  let server: Server;
  /** Number of chunks made in each turn of the event loop, without the first chunk of each answer. */
  const madeByTurn = new Map<number, number>();
  let turn = 0;
  let isCounting = true;

  beforeAll(async () => {
    const requests = new RequestContext();
    const slices = new Slices(requests);
    const app = express();
    app.use(requestContext(requests, new MemoryBudget(readEnvironment({}))));
    const terms: AnswerTerms = { stallSeconds: 10, requests, slices };
    app.locals[ANSWER_TERMS] = terms;
    app.use((_request, response, next) => {
      sendBody(response, { status: 200, headers: {} }, async (sink) => {
        for (let made = 0; made < CHUNKS; made++) {
          if (made > 0) madeByTurn.set(turn, (madeByTurn.get(turn) ?? 0) + 1);
          await sink.write(CHUNK);
        }
      }).catch(next);
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const count = (): void => {
      turn++;
      if (isCounting) setImmediate(count);
    };
    count();
  });
  afterAll(async () => {
    isCounting = false;
    server.close();
    await once(server, 'close');
  });

  it('are produced in rotation, so that other requests are served between two chunks', async () => {
    const { port } = server.address() as AddressInfo;
    const lengths = await Promise.all(
      Array.from({ length: ANSWERS }, async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'Accept-Encoding': 'identity' } });
        return (await answer.text()).length;
      }),
    );
    expect(new Set(lengths)).toEqual(new Set([CHUNKS * CHUNK.length]));
    // The queue of answers makes four chunks at a time, and may do so twice in one turn of the event loop.
    expect(Math.max(...madeByTurn.values())).toBeLessThanOrEqual(8);
  });
});
