import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import express from 'express';
import { AppAdapter } from './app-adapter';

it('passes requests and responses with the prototypes of the app to Express', async () => {
  const app = express();
  app.get('/', (request, response) => {
    response.json({ host: request.hostname, isOfApp: request.app === app && response.app === app });
  });
  const adapter = new AppAdapter(app);
  adapter.initHttpServer();
  const server = adapter.getHttpServer() as Server;
  const areOfApp: boolean[] = [];
  const compare = (...messages: [IncomingMessage, ServerResponse]): void => {
    const [request, response] = messages.map((message) => Object.getPrototypeOf(message) as unknown);
    areOfApp.push(request === app.request, response === app.response);
  };
  // The first listener runs before Express, the second one after it.
  server.prependListener('request', compare).on('request', compare).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(await answer.json()).toEqual({ host: '127.0.0.1', isOfApp: true });
  expect(areOfApp).toEqual([true, true, true, true]);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
