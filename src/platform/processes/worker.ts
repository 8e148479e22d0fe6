import { type MetricFamily } from '../metrics/metric-family';
import { type Metrics } from '../metrics/metrics';
import { type Order, type Report } from './messages';

/** Longer than a process may take to answer the process that reads all metrics. */
const ASK_MILLISECONDS = 8_000;

/** A server that can be ordered to stop. */
interface Serving {
  readonly url: string;
  readonly metrics: Metrics;
  stop(): Promise<void>;
  /** Hands the clients over to other processes, then stops. */
  retire(): Promise<void>;
}

/**
 * Reports the address to the process that started this one, and follows its orders. `end` is called when the server has
 * stopped.
 */
export function takeOrders(server: Serving, end: (stopped: Promise<void>) => void): void {
  // A terminal sends this signal to all processes.
  process.on('SIGHUP', () => undefined);
  const asked = new Map<number, (families: readonly MetricFamily[]) => void>();
  let count = 0;
  server.metrics.ofStart = (path) =>
    new Promise((resolve, reject) => {
      const id = count++;
      const timer = setTimeout(() => {
        asked.delete(id);
        reject(new Error('The process that started this one does not answer.'));
      }, ASK_MILLISECONDS);
      asked.set(id, (families) => {
        clearTimeout(timer);
        asked.delete(id);
        resolve(families);
      });
      report({ kind: 'ask', id, path });
    });
  process.on('message', (order: Order) => {
    if (order.kind === 'read') {
      const { id, path, of } = order;
      void server.metrics.read(path, of).then((families) => {
        report({ kind: 'metrics', id, families });
      });
    } else if (order.kind === 'told') asked.get(order.id)?.(order.families);
    else end(order.kind === 'stop' ? server.stop() : server.retire());
  });
  report({ kind: 'listening', url: server.url });
}

const report = (message: Report): void => {
  // Sending fails if the other process has ended; then this one ends too.
  process.send?.(message, undefined, undefined, () => undefined);
};
