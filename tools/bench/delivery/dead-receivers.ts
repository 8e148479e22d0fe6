import { type RequestListener, type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

const NO_ANSWER: RequestListener = (request) => {
  request.resume();
};
const FAILURE: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(500).end();
};

/** Endpoints on the loopback that accept nothing: one refuses connections, one never responds, one answers 500. */
export class DeadReceivers {
  private constructor(
    private readonly servers: readonly Server[],
    readonly urls: readonly string[],
  ) {}

  static async start(): Promise<DeadReceivers> {
    const [refusing, silent, failing] = await Promise.all([NO_ANSWER, NO_ANSWER, FAILURE].map(listening));
    if (refusing === undefined || silent === undefined || failing === undefined) throw new Error('No server listens');
    const urls = [refusing, silent, failing].map(urlOf);
    await closed(refusing);
    return new DeadReceivers([silent, failing], urls);
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map(closed));
  }
}

async function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
