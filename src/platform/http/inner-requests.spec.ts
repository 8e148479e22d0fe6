import { expect, it } from '@jest/globals';
import { type HttpAdapterHost } from '@nestjs/core';
import express from 'express';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { InnerRequests } from './inner-requests';
import { produceOf, sendBody } from './send-body';

it('S6: an inner answer that fails after it has begun fails with that error, not with one of its own', async () => {
  const refusal = new ServiceError('timeout', 'The query took too long.');
  const app = express();
  const texts = function* (): Generator<string> {
    yield 'x'.repeat(200_000);
    throw refusal;
  };
  app.use((_request, response, next) => {
    sendBody(response, { status: 200, headers: {} }, produceOf(texts())).catch(next);
  });
  const host = { httpAdapter: { getInstance: () => app } } as unknown as HttpAdapterHost;
  const answer = new InnerRequests(host, new RequestContext()).send({
    ...{ method: 'GET', url: '/', headers: {} },
    mostCharacters: 1_000_000,
  });
  await expect(answer).rejects.toBe(refusal);
});
