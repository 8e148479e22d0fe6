import { type MetricFamily } from '../metrics/metric-family';
import { type MetricPath, type MetricScope } from '../metrics/metric-source';

/** To a worker. */
export type Order =
  | { readonly kind: 'stop' }
  /** Others take over: it leaves its clients to them, and ends. */
  | { readonly kind: 'retire' }
  /** Answers an `ask`. */
  | { readonly kind: 'told'; readonly id: number; readonly families: readonly MetricFamily[] }
  | { readonly kind: 'read'; readonly id: number; readonly path: MetricPath; readonly of: MetricScope };

/** From a worker. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  /** For the metrics of all processes. */
  | { readonly kind: 'ask'; readonly id: number; readonly path: MetricPath }
  | { readonly kind: 'metrics'; readonly id: number; readonly families: readonly MetricFamily[] };
