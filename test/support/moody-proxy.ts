import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';

/** The behavior of a proxy for a request: it forwards, delays, answers itself, or disconnects. */
export type Mood =
  | { readonly kind: 'fair' }
  | { readonly kind: 'slow'; readonly until: Promise<unknown> }
  | { readonly kind: 'answers'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'hangs-up' };

/** A proxy before a server, for specs of clients whose server is slow, failing or unavailable. */
export class MoodyProxy {
  /** Decides for each request by its path. */
  moodOf: (path: string) => Mood = () => ({ kind: 'fair' });

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(target: string): Promise<MoodyProxy> {
    const server = createServer((incoming, response) => {
      const mood = proxy.moodOf(incoming.url ?? '/');
      if (mood.kind === 'hangs-up') incoming.socket.destroy();
      else if (mood.kind === 'answers') {
        incoming.resume();
        response.writeHead(mood.status, mood.headers).end();
      } else if (mood.kind === 'slow') {
        void mood.until.then(() => {
          forward(target, incoming, response);
        });
      } else forward(target, incoming, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new MoodyProxy(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return proxy;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = incoming;
  const outgoing = request(`${target}${url}`, { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
