import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/**
 * A webhook endpoint that accepts a request and never responds: the first batch of a destination stays under way, and
 * events captured meanwhile wait without any cost.
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
