import { expect, it } from '@jest/globals';
import { HttpAdapterHost } from '@nestjs/core';
import express from 'express';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { Slices } from '../time/slices';
import { AppAdapter } from './app-adapter';
import { InnerRequests } from './inner-requests';
import { ANSWER_TERMS, type AnswerTerms, produceOf, sendBody } from './send-body';

it('S6: rejects with the error of the response body if it fails after the headers', async () => {
  const refusal = new ServiceError('timeout', 'The query took too long.');
  const app = express();
  const requests = new RequestContext();
  const terms: AnswerTerms = { stallSeconds: 10, requests, slices: new Slices(requests) };
  app.locals[ANSWER_TERMS] = terms;
  const texts = function* (): Generator<string> {
    yield 'x'.repeat(200_000);
    throw refusal;
  };
  app.use((_request, response, next) => {
    sendBody(response, { status: 200, headers: {} }, produceOf(texts())).catch(next);
  });
  const host = new HttpAdapterHost();
  host.httpAdapter = new AppAdapter(app);
  const answer = new InnerRequests(host, requests).send({
    ...{ method: 'GET', url: '/', headers: {} },
    mostCharacters: 1_000_000,
  });
  await expect(answer).rejects.toBe(refusal);
});
