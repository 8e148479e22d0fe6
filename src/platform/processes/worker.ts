import { type Metrics } from '../metrics/metrics';
import { MetricsChannel, type Message } from './channel';

/**
 * How long this process waits for the metrics of all processes. The parent process collects them, and waits for each
 * process for a shorter time.
 */
const ASK_MILLISECONDS = 8_000;

interface Serving {
  readonly url: string;
  readonly metrics: Metrics;
  stop(): Promise<void>;
  /** Leaves the clients to other processes, then stops. */
  retire(): Promise<void>;
}

/**
 * Reports the address of the server to the parent process, which started this process, and follows its orders. `end` is
 * called when the server is ordered to stop, with a promise that settles when it has stopped.
 */
export function takeOrders(server: Serving, end: (stopped: Promise<void>) => void): void {
  // A terminal sends SIGHUP to all processes, but only the parent must react.
  process.on('SIGHUP', () => undefined);
  const parent = new MetricsChannel(send, (path, of) => server.metrics.read(path, of), ASK_MILLISECONDS);
  server.metrics.ofStart = async (path) => {
    const families = await parent.request(path, 'process');
    if (families === undefined) throw new Error('The process that started this one does not answer.');
    return families;
  };
  process.on('message', (message: Message) => {
    if (message.kind === 'stop') end(server.stop());
    else if (message.kind === 'retire') end(server.retire());
    else void parent.receive(message);
  });
  send({ kind: 'listening', url: server.url });
}

const send = (message: Message): void => {
  // If sending fails, the parent process has ended, and then this process ends too.
  process.send?.(message, undefined, undefined, () => undefined);
};
