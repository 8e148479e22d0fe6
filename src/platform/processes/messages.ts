import { type MetricFamily } from '../metrics/metric-family';
import { type MetricPath, type MetricScope } from '../metrics/metric-source';

/** A message from the parent process, which started the workers, to one of them. */
export type Order =
  | { readonly kind: 'stop' }
  /** The worker must end after its clients have moved to other processes. */
  | { readonly kind: 'retire' }
  /** The response to the report `ask`. */
  | { readonly kind: 'told'; readonly id: number; readonly families: readonly MetricFamily[] }
  | { readonly kind: 'read'; readonly id: number; readonly path: MetricPath; readonly of: MetricScope };

/** A message from a worker to the parent process. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  /** The worker requests the metrics of all processes. */
  | { readonly kind: 'ask'; readonly id: number; readonly path: MetricPath }
  | { readonly kind: 'metrics'; readonly id: number; readonly families: readonly MetricFamily[] };
