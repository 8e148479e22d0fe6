import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import express from 'express';
import { Ambient } from '../ambient';
import { MemoryBudget } from '../admission/memory-budget';
import { readEnvironment } from '../config/environment';
import { RequestContext } from './request-context';
import { requestContext } from '../http/request-context.middleware';

describe(RequestContext, () => {
  it('is empty outside a request', () => {
    const requests = new RequestContext();
    requests.identify({ clientId: 'root' }, { registries: 1, rights: 1 });
    requests.correlateEvents('order 1');
    expect([requests.requestId, requests.caller, requests.epochs]).toEqual([undefined, undefined, undefined]);
    expect([requests.correlationId, requests.topicCorrelationId]).toEqual([undefined, undefined]);
  });

  it('is separate for each of several concurrent requests', async () => {
    const requests = new RequestContext();
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((id, rights) =>
        requests.run(id, async () => {
          await Promise.resolve();
          requests.identify({ clientId: id }, { registries: 1, rights });
          requests.correlateEvents(`of ${id}`);
          await Promise.resolve();
          return [requests.requestId, requests.caller?.clientId, requests.epochs?.rights, requests.topicCorrelationId];
        }),
      ),
    );
    expect(seen).toEqual([
      ['a', 'a', 0, 'of a'],
      ['b', 'b', 1, 'of b'],
      ['c', 'c', 2, 'of c'],
    ]);
  });

  it('is inherited by a nested run of the same request, and empty in work outside the request', () => {
    const requests = new RequestContext();
    const seen = requests.run('a', () => {
      requests.correlateEvents('of a');
      return [
        requests.run('a', () => requests.topicCorrelationId),
        Ambient.outside(() => [requests.requestId, requests.topicCorrelationId]),
        requests.topicCorrelationId,
      ];
    });
    expect(seen).toEqual(['of a', [undefined, undefined], 'of a']);
  });
});

describe(requestContext, () => {
  const requests = new RequestContext();
  let server: Server;
  beforeAll(async () => {
    const app = express();
    app.use(requestContext(requests, new MemoryBudget(readEnvironment({}))));
    app.use((_request, response) => void response.send(requests.requestId));
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  async function idsOf(asked?: string): Promise<[string | null, string]> {
    const { port } = server.address() as AddressInfo;
    const headers = asked === undefined ? {} : { 'X-Request-Id': asked };
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
    return [response.headers.get('x-request-id'), await response.text()];
  }
  const made = expect.stringMatching(/^[\da-f]{8}-/);

  it('generates an id for a request and returns it in X-Request-Id', async () => {
    const [returned, known] = await idsOf();
    expect([returned, returned]).toEqual([known, made]);
    expect((await idsOf())[0]).not.toBe(returned);
  });

  it('uses the id that the client sent', async () => {
    expect(await idsOf('trace-1:a.b_c')).toEqual(['trace-1:a.b_c', 'trace-1:a.b_c']);
  });

  it.each(['', 'x'.repeat(65), 'two words', '{"level":"error"}', '%0a', 'é'])(
    'ignores the id "%s" of the client',
    async (asked) => {
      expect(await idsOf(asked)).toEqual([made, made]);
    },
  );
});
