import { type MetricFamily } from '../metrics/metric-family';
import { type Metrics } from '../metrics/metrics';
import { type Order, type Report } from './messages';

/**
 * How long this process waits for the metrics of all processes. The parent process collects them, and waits for each
 * process for a shorter time.
 */
const ASK_MILLISECONDS = 8_000;

interface Serving {
  readonly url: string;
  readonly metrics: Metrics;
  stop(): Promise<void>;
  /** Lets other processes take over the clients, and then stops. */
  retire(): Promise<void>;
}

/**
 * Reports the address of the server to the parent process, which started this process, and follows its orders. `end` is
 * called when the server is ordered to stop, with a promise that settles when it has stopped.
 */
export function takeOrders(server: Serving, end: (stopped: Promise<void>) => void): void {
  // Ignores SIGHUP, which a terminal sends to all processes. Only the parent process must react to it.
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
  // An error of sending is ignored: it means that the parent process has ended, and then this process ends too.
  process.send?.(message, undefined, undefined, () => undefined);
};
