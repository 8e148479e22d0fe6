import { type Metrics } from '../metrics/metrics';
import { type Order, type Report } from './messages';

/** A server that takes orders. */
interface Serving {
  readonly url: string;
  readonly metrics: Metrics;
  stop(): Promise<void>;
  /** Leaves the clients to other processes, then stops. */
  retire(): Promise<void>;
}

/** Tells the process that started this one that it listens, and follows its orders. `end` is called when the server has stopped. */
export function takeOrders(server: Serving, end: (stopped: Promise<void>) => void): void {
  // A terminal sends it to all processes.
  process.on('SIGHUP', () => undefined);
  process.on('message', (order: Order) => {
    if (order.kind === 'read') {
      const { id, path, of } = order;
      void server.metrics.read(path, of).then((families) => {
        report({ kind: 'metrics', id, families });
      });
    } else end(order.kind === 'stop' ? server.stop() : server.retire());
  });
  report({ kind: 'listening', url: server.url });
}

const report = (message: Report): void => {
  // It fails where the other process has ended, and then this one ends too.
  process.send?.(message, undefined, undefined, () => undefined);
};
