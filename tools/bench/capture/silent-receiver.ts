import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/**
 * A webhook endpoint that takes a request and never answers it: the first batch of a destination stays on its way, and
 * what is captured meanwhile waits without costing anybody anything.
 */
export class SilentReceiver {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<SilentReceiver> {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new SilentReceiver(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/silent`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
